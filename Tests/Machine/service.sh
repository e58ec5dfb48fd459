# shellcheck shell=bash
# Plays of the unit of 'kii-push install-unit' and of the package's template.

# Writes the configuration. $1 adds members of the profile 'default', as a jq expression.
configure() {
    local common='{baseURL, appID, caFile: "/etc/kii-push/ca.pem"}'
    jq "{version: 1, profiles: {
        default: ($common + {subscriptions: {topics: [\"alerts\"]}, run: {exec: \"/usr/local/bin/on-push\"}} ${1:-}),
        meter: ($common + {subscriptions: {topics: [\"meter\"]}, run: {exec: \"/usr/local/bin/on-push\"}})}}" \
        /run/emulator/kii-push/emulator.json > /etc/kii-push/config.json
}
secrets() { jq "{version: 1, profiles: {default: {appKey}, meter: {appKey}}}" /run/emulator/kii-push/emulator.json; }
# Expects that a start fails once with this exit code, and that the journal has this text.
ends_with() {
    systemctl reset-failed kii-push || true # Not loaded before its first start.
    ! systemctl --quiet start kii-push || fail "it starts $1"
    [[ "$(property ExecMainStatus kii-push) $(property NRestarts kii-push)" == "$2 0" ]] ||
        fail "$1 it ends with $(property ExecMainStatus kii-push), restarted $(property NRestarts kii-push) times"
    journalctl --sync
    journalctl --no-pager --quiet -u kii-push -n 8 | grep "$3" > /dev/null || fail "$1 it does not say: $3"
}

play_install() {
    apt-get install -q -y ./kii-push_*.deb ./kii-push-emulator_*.deb ./kii-push-gateway_*.deb
    [[ -z "$(systemctl list-unit-files --no-legend --state=enabled 'kii-push*')" ]] || fail "the packages enable a unit"
    cp on-push /usr/local/bin
    chmod 755 /usr/local/bin/on-push
    mkdir -p /etc/systemd/system/emulator.service.d /etc/kii-push
    # The package has a user unit; here the system runs it.
    cp /usr/lib/systemd/user/kii-push-emulator.service /etc/systemd/system/emulator.service
    printf '%s\n' '[Service]' DynamicUser=yes RuntimeDirectory=emulator StateDirectory=emulator \
        'Environment=XDG_RUNTIME_DIR=/run/emulator XDG_STATE_HOME=/var/lib/emulator HOME=/var/lib/emulator LIBDISPATCH_LOG=NO' \
        '[Install]' WantedBy=multi-user.target > /etc/systemd/system/emulator.service.d/machine.conf
    systemctl daemon-reload
    systemctl --quiet enable --now emulator
    cloud
    install -m 644 "$(emulator caFile)" /etc/kii-push/ca.pem
    for topic in alerts meter fleet; do call "/topics/$topic" --request PUT; done
    kii-push install-unit
    systemctl daemon-reload
    say "by apt-get; no unit is enabled before somebody asks"
}

play_credentials() {
    ends_with "without a configuration" 78 'there is no configuration file'
    configure
    ends_with "without a key" 78 'write "appKey" into'
    echo '{"version": 1, "profiles": ' > /etc/kii-push/credentials.json
    ends_with "with half a file of secrets" 78 'credentials'
    secrets > /etc/kii-push/credentials.json
    chmod 666 /etc/kii-push/config.json
    ends_with "with a configuration that everybody may write" 78 'chmod go-w'
    chmod 644 /etc/kii-push/config.json
    # systemd reads the file as root and passes on a copy of mode 0400.
    chmod 000 /etc/kii-push/credentials.json
    systemctl start kii-push
    [[ "$(stat -c %a /run/credentials/kii-push.service/*)" == 4[04]0 ]] || fail "the credential is open to others"
    systemctl stop kii-push
    chmod 600 /etc/kii-push/credentials.json
    systemctl --quiet enable --now kii-push
    send alerts 5
    all_handled
    say "missing, cut or open to others: 78, no restart; a file of mode 0000 is handed over all the same"
}

play_ready() {
    systemctl stop kii-push emulator
    systemctl --no-block start kii-push
    sleep 8
    is kii-push ActiveState activating || fail "without a broker it is $(property ActiveState kii-push)"
    local waits
    waits="$(property StatusText kii-push)"
    [[ -n $waits ]] || fail "it does not say why it is not ready"
    systemctl start emulator
    cloud
    within 60 is kii-push ActiveState active || fail "it does not become active"
    [[ "$(property NRestarts kii-push)" == 0 ]] || fail "it was restarted"
    send alerts 5
    all_handled
    say "READY=1 when subscribed; before: '$waits'; then: '$(property StatusText kii-push)'"
}

play_reload() {
    local main
    main="$(property MainPID kii-push)"
    send alerts 5
    configure '* {run: {arguments: ["--again"]}}'
    systemctl reload kii-push
    send alerts 5
    all_handled
    configure '* {run: {jobs: "many"}}'
    systemctl reload kii-push || true
    within 20 is kii-push ActiveState active || fail "a wrong configuration ends it"
    send alerts 5
    all_handled
    journalctl --sync
    journalctl --no-pager --quiet -u kii-push -n 30 | grep '/run/jobs' > /dev/null || fail "it does not say what is wrong"
    configure
    systemctl reload kii-push
    [[ "$(property MainPID kii-push)" == "$main" ]] || fail "a reload begins another process"
    say "the same process; a wrong file changes nothing, and is named"
}

play_restart() {
    mode slow
    send alerts 20
    systemctl restart kii-push
    send alerts 20
    systemctl stop kii-push
    (($(missing) > 0)) || fail "nothing was in hand at the stop"
    local left
    left="$(missing)"
    is kii-push Result success || fail "the stop is a failure: $(property Result kii-push)"
    send alerts 5
    systemctl start kii-push
    mode plain
    all_handled
    say "restarted and stopped amid 40 messages, $left waited; 5 sent meanwhile"
}

play_template() {
    systemctl start kii-push@meter
    send meter 5
    send alerts 5
    all_handled
    is kii-push ActiveState active || fail "two profiles do not run beside each other"
    systemctl --quiet enable kii-push@meter
    say "a second profile beside the first"
}

play_kill() {
    mode slow
    local main turn
    for turn in 1 2; do
        main="$(property MainPID kii-push)"
        send alerts 10
        systemctl kill --kill-who=main --signal=KILL kii-push
        within 60 is kii-push ActiveState active || fail "it does not come back"
        [[ "$(property MainPID kii-push)" != "$main" ]] || within 20 eval "! is kii-push MainPID $main" || fail "it is not killed"
    done
    mode plain
    all_handled
    say "twice amid 10 messages"
}

play_watchdog() {
    override kii-push WatchdogSec=8
    systemctl restart kii-push
    local main began
    main="$(property MainPID kii-push)"
    # The service feeds the watchdog for longer than its limit.
    sleep 12
    is kii-push MainPID "$main" || fail "it is ended although it is well"
    kill -STOP "$main"
    began="$(seconds)"
    send alerts 5
    within 60 is kii-push Result watchdog || within 60 eval "! is kii-push MainPID $main" || fail "a process that hangs is not ended"
    within 60 is kii-push ActiveState active || fail "it does not come back"
    ! is kii-push MainPID "$main" || fail "it is the same process"
    local took=$(($(seconds) - began))
    all_handled
    journalctl --sync
    journalctl --no-pager --quiet -u kii-push | grep 'Watchdog timeout' > /dev/null || fail "it was not the watchdog"
    plain kii-push
    systemctl restart kii-push
    say "a stopped process is ended and back after $took s, with WatchdogSec=8"
}

play_hang() {
    mode hang
    send alerts 3
    within 30 test -s /var/lib/private/kii-push/began || fail "no handler began"
    local began took
    began="$(seconds)"
    systemctl stop kii-push
    took=$(($(seconds) - began))
    is kii-push Result success || fail "the stop is a failure: $(property Result kii-push)"
    ((took >= 10 && took <= 30)) || fail "the stop takes $took s"
    ! pgrep -f on-push || fail "a handler goes on"
    mode plain
    systemctl start kii-push
    all_handled
    say "a handler that ignores SIGTERM is ended with the service, after $took s"
}

play_oom() {
    override kii-push MemoryMax=150M MemorySwapMax=0
    systemctl restart kii-push
    local main
    main="$(property MainPID kii-push)"
    mode eat
    send alerts 3
    all_handled 60
    mode plain
    dmesg | grep 'Memory cgroup out of memory: Killed process .*(tail)' > /dev/null || fail "no handler was killed for its memory"
    is kii-push MainPID "$main" || fail "a handler that eats all memory ends the service"
    is kii-push ActiveState active || fail "it is $(property ActiveState kii-push)"
    plain kii-push
    systemctl restart kii-push
    say "the kernel kills the handler, whose attempt has failed; the service goes on"
}

play_exits() {
    local code
    systemctl stop kii-push
    override kii-push RestartSec=100ms ExecStart= "ExecStart=/bin/sh -c 'exit \$\$(cat /run/machine/code)'"
    for code in 64 76 77 78 1 69 70 74 75 143; do
        echo "$code" > code
        systemctl reset-failed kii-push || true
        systemctl start kii-push || true
        case "$code" in
            64 | 7[678])
                sleep 1
                [[ "$(property ActiveState kii-push) $(property NRestarts kii-push)" == "failed 0" ]] || fail "it is started again after $code"
                ;;
            *) within 20 eval '(($(property NRestarts kii-push) > 1))' || fail "it is not started again after $code" ;;
        esac
        systemctl stop kii-push
    done
    plain kii-push
    systemctl reset-failed kii-push || true
    systemctl start kii-push
    say "64, 76, 77, 78 are left alone; 1, 69, 70, 74, 75, 143 are started again"
}

play_journal() {
    local entry
    send alerts 1
    all_handled
    journalctl --sync
    entry="$(journalctl --no-pager --quiet -u kii-push -o json -n 20 | jq -c 'select(.KII_RESULT)' | tail -n 1)"
    [[ "$(jq -r '[.KII_KIND, .KII_TOPIC, .KII_RESULT, .PRIORITY, .SYSLOG_IDENTIFIER] | join(" ")' <<< "$entry")" == \
        "pushToUser alerts newData 6 kii-push" ]] || fail "the entry is $entry"
    jq -e '.KII_MESSAGE_ID | tonumber' <<< "$entry" || fail "the entry has no number"
    override kii-push LogRateLimitIntervalSec=60s LogRateLimitBurst=5
    systemctl restart kii-push
    send alerts 40
    all_handled
    journalctl --sync
    entry="$(journalctl --no-pager --quiet -o cat _PID="$(property MainPID kii-push)" KII_RESULT=newData | wc -l)"
    ((entry > 0 && entry < 40)) || fail "the journal took $entry entries of 40"
    plain kii-push
    systemctl restart kii-push
    local main
    main="$(property MainPID kii-push)"
    systemctl kill --signal=KILL systemd-journald
    send alerts 5
    all_handled
    is kii-push MainPID "$main" || fail "it ends with the journal"
    send alerts 1
    all_handled
    within 10 eval "journalctl --sync; journalctl --no-pager --quiet --since=-5s -o json KII_RESULT=newData | grep ." > /dev/null ||
        fail "it does not reach the next journal"
    say "fields as documented; beyond a rate limit, and with the journal killed, it goes on"
}

play_state() {
    local folder=/var/lib/private/kii-push
    [[ "$(stat -c %a "$folder")" == 700 && -L /var/lib/kii-push ]] || fail "its folder is $(stat -c %a "$folder")"
    [[ "$(stat -c %a /run/private/kii-push /run/kii-push 2> /dev/null | head -n 1)" == 700 ]] || fail "its runtime folder is open"
    local open
    open="$(find "$folder" -perm /077 ! -type l | head -n 3)"
    [[ -z $open ]] || fail "open to others: $open"
    [[ "$(stat -c %U "$folder")" != root ]] || fail "it is root's"
    kii-push inbox list --state done --limit 1 --state-directory "$folder/profiles/default"
    say "/var/lib/private/kii-push and all in it belong to its user alone; root lists the inbox"
}

play_sandbox() {
    local exposure gateway
    exposure="$(systemd-analyze security --no-pager kii-push | sed -n 's/.*Overall exposure.*: \([0-9.]*\).*/\1/p')"
    gateway="$(systemd-analyze security --no-pager kii-push-gateway@one | sed -n 's/.*Overall exposure.*: \([0-9.]*\).*/\1/p')"
    mkdir -p /home/somebody /srv
    echo > /home/somebody/file
    chmod 777 /srv
    mode reach
    send alerts 1
    all_handled
    mode plain
    [[ -e /var/lib/private/kii-push/reached ]] || fail "the handler did not try"
    [[ ! -s /var/lib/private/kii-push/reached ]] || fail "a handler $(paste -sd ',' /var/lib/private/kii-push/reached)"
    [[ ${exposure%.*} -lt 2 && ${gateway%.*} -lt 3 ]] || fail "exposure $exposure, gateway $gateway"
    say "exposure $exposure of 10, gateway's $gateway; a handler reads no home, no secret, no disk and writes nowhere else"
}
