# shellcheck shell=bash
# Plays around the services: the calendar, sleep, power and packages.

play_clock() {
    local main jump away=0
    main="$(property MainPID kii-push)"
    # The first attempt of each message fails, so retries are pending while the calendar jumps.
    mode fail
    for jump in 3600 34560000 -69120000; do
        send alerts 5
        date --set "@$(($(date +%s) + jump))"
        away=$((away + jump))
        send alerts 5
        all_handled
    done
    date --set "@$(($(date +%s) - away))"
    mode plain
    send alerts 5
    all_handled
    [[ "$(property MainPID kii-push) $(property NRestarts kii-push)" == "$main 0" ]] || fail "it was restarted"
    say "an hour and 400 days on, 800 back, and back again, amid retries: the same process"
}

play_suspend() {
    local main before
    main="$(property MainPID kii-push)"
    before="$(cat /sys/power/suspend_stats/success)"
    mode slow
    send alerts 10
    rtcwake --mode mem --seconds 15
    if (($(cat /sys/power/suspend_stats/success) == before)); then
        all_handled
        say "left out: this machine does not sleep"
        return
    fi
    send alerts 5
    mode plain
    all_handled
    [[ "$(property MainPID kii-push) $(property NRestarts kii-push)" == "$main 0" ]] || fail "it was restarted"
    say "asleep for 15 s amid 10 messages ($(cat /sys/power/mem_sleep)): the same process"
}

# Number of messages on the disk, for each kind of agent. All of them were committed.
stored_alerts() { kii-push inbox stats --json --state-directory /var/lib/private/kii-push/profiles/default | jq .received; }
stored_fleet() { database -c 'SELECT count(*) FROM kii_push.message'; }
# Each turn sends this many to either topic. So after the cut, a message's number shows its topic.
each=10

play_power() {
    local alerts fleet topic
    all_handled
    alerts="$(stored_alerts)" fleet="$(stored_fleet)"
    cp "$state/number" "$state/before"
    touch "$state/sent.alerts"
    for topic in alerts fleet; do cp "$state/sent.$topic" "$state/before.$topic"; done
    systemctl --quiet enable --now kii-push@meter
    sync
    mode long
    local turn
    for ((turn = 1; ; turn++)); do
        send alerts "$each"
        send fleet "$each"
        echo "HELD $(($(stored_alerts) - alerts))/$(($(stored_fleet) - fleet))" >&3
        ((turn != 4)) || echo CUT >&3
    done
}

play_boot() {
    local held alerts fleet first topic
    held="$(sed -n 's,.*held=\([0-9]*\)/\([0-9]*\).*,\1 \2,p' /proc/cmdline)"
    alerts="${held% *}" fleet="${held#* }"
    ((alerts > 0 && fleet > 0)) || fail "nothing was held at the cut"
    first="$(cat "$state/before")"
    echo $((first + 100000)) > "$state/number"
    # The cut may have truncated this file to its last flush, or filled its end with zeros.
    for topic in alerts fleet; do cp "$state/before.$topic" "$state/sent.$topic"; done
    local n
    for ((n = 0; n < alerts; n++)); do echo $((first + 1 + n / each * 2 * each + n % each)); done >> "$state/sent.alerts"
    for ((n = 0; n < fleet; n++)); do echo $((first + 1 + each + n / each * 2 * each + n % each)); done >> "$state/sent.fleet"
    local left unit
    left="$(missing)"
    cloud
    for unit in kii-push kii-push@meter "${gateways[@]}"; do
        within 90 is "$unit" ActiveState active || fail "$unit is $(property ActiveState "$unit") after the boot"
    done
    all_handled 60
    journalctl --sync
    ! journalctl --no-pager --quiet -b -u 'kii-push*' | grep -i 'damaged\|moved aside' || fail "an inbox was damaged"
    send alerts 5
    send meter 5
    send fleet 5
    all_handled 60
    say "of $alerts and $fleet that were stored at the cut, $left were handled after it; the units came by themselves"
}

program() { readlink "/proc/$(property MainPID "$1")/exe"; }

play_upgrade() {
    local main other
    main="$(property MainPID kii-push)" other="$(property MainPID kii-push-gateway@one)"
    mode slow
    send alerts 20
    dpkg -i next.deb
    (($(missing) > 0)) || fail "nothing was in hand"
    ! is kii-push MainPID "$main" || fail "it goes on with the old program"
    [[ "$(program kii-push) $(program kii-push@meter)" == "/usr/bin/kii-push /usr/bin/kii-push" ]] || fail "it runs $(program kii-push)"
    is kii-push-gateway@one MainPID "$other" || fail "the gateway was touched"
    mode plain
    all_handled
    say "amid 20 messages; the services run the new program"
}

play_remove() {
    mode slow
    send alerts 20
    apt-get remove -q -y kii-push
    is kii-push ActiveState inactive && is kii-push@meter ActiveState inactive || fail "it is $(property ActiveState kii-push)"
    local left
    left="$(missing)"
    ((left > 0)) || fail "nothing was in hand"
    send alerts 5
    mode plain
    dpkg -i next.deb
    systemctl start kii-push kii-push@meter
    all_handled
    say "amid 20 messages: $left waited, and came when the package was there again"
}

# Keeps the record of handled messages, because a purge removes its files.
remember_handled() { handled > "$state/remembered" && mv "$state/remembered" "$state/handled"; }

play_purge() {
    remember_handled
    dpkg --purge kii-push
    [[ -z "$(pgrep -x kii-push || true)" ]] || fail "a process is left"
    [[ ! -e /var/lib/private/kii-push && ! -e /etc/systemd/system/kii-push.service ]] || fail "state or unit is left"
    is kii-push-gateway@one ActiveState active || fail "the gateway was touched"
    send fleet 5
    all_handled
    remember_handled
    dpkg --purge kii-push-gateway
    [[ -z "$(pgrep -x kii-push-gatewa || true)" && ! -e /var/lib/private/kii-push-gateway ]] || fail "something of the gateway is left"
    local left
    left="$(find /etc/systemd /var/lib/private /run/systemd/system -name 'kii-push*' | head -n 3)"
    [[ -z $left ]] || fail "left: $left"
    say "while both run: no process, unit or state is left"
}
