# shellcheck shell=bash
# Gateways as units, and their common PostgreSQL.

database() { runuser -u postgres -- psql --quiet --no-align --tuples-only --dbname kii "$@"; }
gateway() { runuser -u postgres -- kii-push-gateway "$@" --store 'postgres://postgres@/kii?host=/var/run/postgresql'; }
gateways=(kii-push-gateway@one kii-push-gateway@two)

play_gateway() {
    ! systemctl --quiet start kii-push-gateway@one || fail "it starts without a store"
    [[ "$(property ExecMainStatus kii-push-gateway@one) $(property NRestarts kii-push-gateway@one)" =~ ^(64|78)\ 0$ ]] ||
        fail "without a store it ends with $(property ExecMainStatus kii-push-gateway@one)"
    systemctl --quiet enable --now postgresql
    within 60 runuser -u postgres -- psql -c 'SELECT 1' || fail "PostgreSQL does not start"
    runuser -u postgres -- psql --quiet -c "CREATE ROLE gateway LOGIN PASSWORD 'of-the-gateway'" -c 'CREATE DATABASE kii'
    gateway store init
    database -c 'GRANT USAGE ON SCHEMA kii_push TO gateway' \
        -c 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA kii_push TO gateway' \
        -c 'REVOKE INSERT, UPDATE, DELETE ON kii_push.migration FROM gateway' \
        -c 'GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA kii_push TO gateway'
    (umask 077 && echo '127.0.0.1:*:kii:gateway:of-the-gateway' > /etc/kii-push/pgpass)
    printf '%s\n' KII_PUSH_STORE=postgres://gateway@127.0.0.1/kii 'KII_PUSH_HANDLER=--exec /usr/local/bin/on-push' \
        > /etc/kii-push/gateway.env
    jq '{name: "lamp", app: {id: .appID, key: .appKey, baseURL}, account: {type: "pseudoUser"}, usesTLS: false,
        subscriptions: [{topic: "fleet"}]}' /run/emulator/kii-push/emulator.json | gateway fleet add -
    systemctl --quiet enable --now "${gateways[@]}"
    within 60 subscribed fleet || fail "nobody subscribes to the gateways' topic"
    send fleet 5
    all_handled
    mode slow
    local unit
    for unit in "${gateways[@]}"; do
        send fleet 10
        systemctl kill --kill-who=main --signal=KILL "$unit"
        within 60 is "$unit" ActiveState active || fail "$unit does not come back"
    done
    all_handled 60
    send fleet 10
    systemctl restart "${gateways[@]}"
    all_handled 60
    mode plain
    say "two gateways, each killed amid 10 messages, both restarted amid 10"
}

play_database() {
    mode slow
    send fleet 10
    systemctl restart postgresql@15-main
    all_handled 60
    send fleet 10
    systemctl kill --signal=KILL postgresql@15-main
    sleep 12
    systemctl start postgresql@15-main
    send fleet 5
    all_handled 60
    mode plain
    local unit
    for unit in "${gateways[@]}"; do is "$unit" ActiveState active || fail "$unit is $(property ActiveState "$unit")"; done
    say "PostgreSQL restarted, and killed for 12 s, amid 10 messages each"
}
