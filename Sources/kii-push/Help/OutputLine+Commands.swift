extension OutputLine {
    static let ofTheCloud: [OutputLine] = [
        OutputLine("registration", "what came of 'register'", Self.identity),
        OutputLine(
            "subscription", "what came of 'subscribe' and 'unsubscribe', and what 'subscriptions' found", Self.target,
            [
                "subscribed": .flag, "changed?": .flag, "created?": .flag,
                "known_by?": .word(["profile", "configuration", "cloud"]),
            ]),
        OutputLine(
            "sent", "what came of 'send'",
            [
                "id": .text,
                "target": .object([
                    "kind": .word(["topic", "bucket", "user"]), "name?": .text, "scope?": .text, "id?": .text,
                ]),
                "receivers?": .integer, "inspector?": .text,
            ]),
        OutputLine(
            "request", "what 'send --dry-run' would send",
            ["method": .text, "url": .text, "as": .text, "media_type": .text, "body": .any]),
    ]

    #if Postgres
    static let ofTheFleet: [OutputLine] = [
        OutputLine(
            "gateway", "a gateway of 'fleet status'",
            [
                "database": .integer, "name": .text, "host": .text, "pid": .integer, "state": .text,
                "ended_ms?": .integer,
                "alive": .flag, "draining": .flag,
                "shards": .integer,
                "agents": .integer, "unhandled": .integer, "lag_ms?": .integer, "declared_dead": .integer,
                "shards_taken_over": .integer,
            ]),
        OutputLine(
            "fleet", "what no gateway has, of 'fleet status'",
            [
                "free_shards": .integer, "agents_without_gateway": .integer,
                "unreachable": .list(["database": .integer, "reason": .text]),
            ]),
        OutputLine("agent", "an agent of 'fleet list', 'add' and 'remove'", ["name": .text]),
        OutputLine("drained", "the gateway of 'fleet drain'", ["gateway": .text]),
        OutputLine("schema", "what came of 'store'", ["version": .integer]),
    ]
    #else
    static let ofTheFleet: [OutputLine] = []
    #endif

    static let ofTheTool: [OutputLine] = [
        OutputLine(
            "check", "a check of 'doctor'; code is such as DNS and stable, exit is the code that a failure stands for",
            [
                "code": .text, "server?": .word(["cloud", "broker"]), "title": .text,
                "outcome": .word(["ok", "warning", "failed", "skipped"]), "evidence": .text, "fix?": .text,
                "exit?": .integer,
            ]),
        OutputLine(
            "setting", "a setting of 'config show', or a file that is looked at; a secret has no value",
            [
                "name": .text, "secret": .flag, "set": .flag, "value?": .text,
                "origin?": .object([
                    "kind": .word(["option", "environment", "file", "registration", "emulator", "default"]),
                    "name?": .text, "path?": .text, "place?": .text, "pointer?": .text,
                ]),
            ]),
        OutputLine(
            "emulator", "where the emulator is",
            [
                "baseURL": .text, "httpsBaseURL?": .text, "appID": .text, "mqttPort": .integer, "mqttTLSPort": .integer,
                "file": .text, "inspector": .text,
            ]),
        OutputLine(
            "activity",
            "what happens at the emulator: a request, an installation's connection to the broker, or what a receiver on "
                + "this machine tells of a message, id being the receiver's own number; message is null where it is not "
                + "known which push that was",
            [
                "sequence": .integer, "at": .time, "event": .word(["request", "connection", "delivery", "missed"]),
                "method?": .text, "target?": .text, "control?": .flag, "caller?": .text, "status?": .integer,
                "error_code?": .text, "elapsed_ms?": .integer,
                "sent?": .list([
                    "id": .text, "kind": .text, "source": .text, "sent_at": .time, "installations": .texts,
                ]), "body?": .any, "answer?": .any, "installation?": .text, "owner?": .text, "online?": .flag,
                "message?": .any, "push?": .object(["kind": .text, "source": .text, "sent_at": .time]),
                "receiver?": .text, "id?": .integer, "kind?": .text, "attempt?": .integer, "pause_ms?": .integer,
                "detail?": .text, "missed?": .integer,
            ]),
        OutputLine(
            "help",
            "what 'help --json' prints; commands holds the same of each command below, and a topic has name and text",
            [
                "name": .text, "path?": .text, "version?": .text, "abstract?": .text, "usage?": .text,
                "aliases?": .texts, "examples?": .list(["purpose": .text, "line": .text]), "discussion?": .texts,
                "arguments?": .list(Self.argument), "options?": .list(Self.argument),
                "exit_codes?": .list(["code": .integer, "category": .text, "meaning": .text]),
                "environment?": .list(["name": .text, "meaning": .text]), "commands?": .any, "topics?": .texts,
                "text?": .text,
            ]),
        OutputLine(
            "error", "why a command failed; exit is its exit code",
            [
                "category": .text, "message": .text, "code?": .text, "http_status?": .integer, "in_doubt?": .flag,
                "hint?": .text, "exit": .integer,
            ]),
    ]

    private static let identity: OutputMembers = [
        "profile": .text, "cloud": .text, "appID": .text,
        "principal": .object(["kind": .word(["user", "thing"]), "id": .text]),
        "account": .object([
            "kind": .word(["pseudoUser", "user", "thing"]), "name?": .text, "vendorThingID?": .text, "type?": .text,
        ]),
        "installationID": .text, "payload": .word(["mqtt", "apns"]), "state": .text,
    ]
    private static let argument: OutputMembers = [
        "names": .texts, "value?": .text, "help": .text, "default?": .text, "bare?": .text, "completes?": .text,
        "values?": .texts, "required": .flag, "repeatable": .flag, "section?": .text,
    ]
}
