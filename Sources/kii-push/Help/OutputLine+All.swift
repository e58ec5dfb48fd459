import KiiPushCore

extension OutputLine {
    /// Every line that there is, in the order of the page.
    static let all: [OutputLine] =
        Self.ofMessages + Self.ofTheInbox + Self.ofPayloads + Self.ofTheCloud + Self.ofTheTool

    private static let ofMessages: [OutputLine] = [
        OutputLine(
            "message", "a push that is handed to a handler",
            [
                .has("id", .integer), .has("attempt", .integer), .has("installation", .text),
                .has("received_at", .time),
                .has("kind", .text), .has("bytes", .integer), .has("fields", .any), .may("sender", Self.sender),
            ],
            Self.names,
            [
                .may("when", .time), .may("modifiedAt", .time), .may("aps", .any), .has("custom", .any),
                .may("findings", .list([.has("pointer", .text), .has("expected", .text), .has("found", .text)])),
                .has("payload", .any),
            ]),
        OutputLine(
            "verdict", "what became of a message, or of an attempt",
            [
                .has("id", .integer),
                .has("result", .word(["newData", "noData", "failed", "dead", "late", "again"])), .may("at", .time),
                .may("elapsed_ms", .integer), .may("attempt", .integer), .may("failure", .text),
                .may("retry_in_ms", .integer), .may("reason", .text), .may("kept", .flag), .may("counted", .flag),
                .may("handler", .text), .may("exit_status", .integer), .may("signal", .integer),
                .may("http_status", .integer), .may("no_answer", .text), .may("profile", .text),
                .may("installation", .text),
            ]),
        OutputLine(
            "state",
            "the connection, and what is in the way of messages (connected, offline, not storing, storing again and so on)",
            [
                .has("state", .text), .has("at", .time), .may("reason", .text), .may("retry_in_ms", .integer),
                .may("installation", .text), .may("url", .text), .may("protocol", .text), .may("qos", .integer),
                .may("session_present", .flag), .may("verified", .flag),
            ]),
        OutputLine(
            "service", "how 'run' is, which it says on SIGUSR1",
            [
                .has("at", .time), .has("pid", .integer), .has("uptime_ms", .integer), .has("profile", .text),
                .has("handler", .text),
                .has("connection", .object([.has("state", .text), .has("since", .time), .has("text", .text)])),
                .has("in_hand", .integer),
            ],
            Self.counts.map { .may($0, .integer) }, [.may("counts_missing", .text)]),
    ]

    private static let ofTheInbox: [OutputLine] = [
        OutputLine(
            "inbox_message", "a message of 'inbox list'", Self.heading, [.has("attempts", .integer)]),
        OutputLine(
            "trace", "a message's life, of 'trace'", Self.heading,
            [
                .has("mqtt_topic", .text), .has("qos", .integer), .has("dup", .flag), .has("retain", .flag),
                .may("packet_id", .integer), .has("connection", .integer),
                .has(
                    "events",
                    .list([
                        .has("event", .text), .has("at", .time), .has("offset_ms", .integer), .may("attempt", .integer),
                        .may("failure", .text), .may("retry_in_ms", .integer), .may("result", .text),
                        .may("late", .flag), .may("action", .text), .may("reason", .text),
                    ])),
                .has("missing", .texts), .may("payload", .any), .may("payload_text", .text), .may("payload_hex", .text),
            ]),
        OutputLine(
            "inbox", "the counts of 'inbox stats'", (Self.counts + ["unaccounted"]).map { .has($0, .integer) }),
        OutputLine("retried", "a message that is tried again", [.has("id", .integer)]),
        OutputLine(
            "adopted", "what came of 'inbox adopt'", [.has("from", .text), .has("messages", .integer)]),
        OutputLine("dropped", "a message that is gone", [.has("id", .integer)]),
        OutputLine(
            "recorded", "a line of 'listen --record'",
            [
                .has("id", .integer), .has("received_at_ms", .integer), .has("payload", .text),
            ]),
    ]

    private static let ofPayloads: [OutputLine] = [
        OutputLine(
            "explanation", "what 'explain' says of a payload; of one that is no JSON only refused and findings",
            [
                .may("kind", .text),
                .may(
                    "decided_by",
                    .object([.has("key", .any), .may("pointer", .text), .may("field", .text), .has("because", .text)])),
                .may("keys", .word(["short", "long"])), .may("keys_because", .text), .may("bytes", .integer),
                .may("fields", .list(Self.explainedMember)),
                .may("aps", .object([.has("value", .any), .has("keys", .list(Self.explainedMember))])),
                .may("custom", .list(Self.remark)), .may("ignored", .list(Self.remark)),
                .has(
                    "findings",
                    .list([
                        .has("code", .text), .has("level", .word(["error", "warning", "note"])), .has("pointer", .text),
                        .has("message", .text), .has("advice", .text),
                    ])),
                .may(
                    "refused",
                    .object([
                        .has("code", .text), .has("reason", .text), .may("pointer", .text), .may("byte", .integer),
                        .may("line", .integer), .may("column", .integer),
                    ])),
                .may("names", .object([.may("sender", Self.sender)] + Self.names)),
            ]),
        OutputLine(
            "fixture", "an example of 'send fixtures'",
            [
                .has("name", .text), .has("for", .word(["message", "object"])), .has("purpose", .text),
                .has("body", .any),
            ]),
    ]

    private static let explainedMember: [OutputMember] = [
        .has("pointer", .text), .has("name", .text), .may("value", .any), .has("meaning", .text),
        .may("reading", .text),
        .has("source", .text),
    ]
    private static let remark: [OutputMember] = [.has("pointer", .text), .may("value", .any), .has("because", .text)]

    static let counts = [
        "received", "duplicates", "waiting", "running", "presented", "done", "dead", "expired", "lost", "dropped",
    ]

    static let target: [OutputMember] = [
        .has("kind", .word(["topic", "bucket"])), .has("name", .text), .has("scope", .text),
    ]
    private static let sender = OutputShape.object([
        .has("kind", .word(["user", "thing", "admin", "other"])), .may("id", .text),
    ])
    /// What the IDs of a message lead to.
    private static let names: [OutputMember] = [
        .may("topic", .object(Self.target)), .may("bucket", .object(Self.target)), .may("object", .text),
    ]
    /// What a stored message is, and where it stands.
    private static let heading: [OutputMember] = Self.standing + Self.names + Self.reception
    private static let standing: [OutputMember] = [
        .has("id", .integer), .has("state", .word(["waiting", "running", "retry", "presented", "done", "dead"])),
        .may("since", .time), .may("due_at", .time), .may("reason", .text), .may("kind", .text),
    ]
    private static let reception: [OutputMember] = [
        .may("installation", .text), .has("received_at", .time), .has("bytes", .integer),
    ]
}
