import KiiPushCore

extension OutputLine {
    /// Every line that there is, in the order of the page.
    static let all: [OutputLine] =
        Self.ofMessages + Self.ofTheInbox + Self.ofPayloads + Self.ofTheCloud + Self.ofTheFleet + Self.ofTheTool

    private static let ofMessages: [OutputLine] = [
        OutputLine(
            "message", "a push that is handed to a handler",
            [
                "id": .integer, "attempt": .integer, "installation": .text, "received_at": .time, "kind": .text,
                "bytes": .integer, "fields": .any, "sender?": Self.sender,
            ],
            Self.names,
            [
                "when?": .time, "modifiedAt?": .time, "aps?": .any, "custom": .any,
                "findings?": .list(["pointer": .text, "expected": .text, "found": .text]), "payload": .any,
            ]),
        OutputLine(
            "verdict", "what became of a message, or of an attempt",
            [
                "id": .integer,
                "result": .word(["newData", "noData", "failed", "dead", "late", "again", "setAside"]),
                "at?": .time,
                "elapsed_ms?": .integer, "attempt?": .integer, "failure?": .text, "retry_in_ms?": .integer,
                "reason?": .text, "kept?": .flag, "counted?": .flag, "handler?": .text, "exit_status?": .integer,
                "signal?": .integer, "http_status?": .integer, "no_answer?": .text, "profile?": .text,
                "installation?": .text, "agent?": .text,
            ]),
        OutputLine(
            "state",
            "the connection, and what is in the way of messages (connected, offline, not storing, storing again and so on)",
            [
                "state": .text, "at": .time, "reason?": .text, "retry_in_ms?": .integer, "installation?": .text,
                "url?": .text, "protocol?": .text, "qos?": .integer, "session_present?": .flag, "verified?": .flag,
            ]),
        OutputLine(
            "service", "how 'run' is, which it says on SIGUSR1",
            [
                "at": .time, "pid": .integer, "uptime_ms": .integer, "profile?": .text, "handler": .text,
                "connection?": .object(["state": .text, "since": .time, "text": .text]), "in_hand": .integer,
                "gateway?": .text,
                "databases?": .list([
                    "shards": .integer, "agents": .integer, "gateways": .integer, "shards_taken_over": .integer,
                    "leases_over": .integer, "failing": .flag,
                ]),
            ],
            OutputMembers(Self.counts.map { ("\($0)?", .integer) }), ["counts_missing?": .text]),
    ]

    private static let ofTheInbox: [OutputLine] = [
        OutputLine("inbox_message", "a message of 'inbox list'", Self.heading, ["attempts": .integer]),
        OutputLine(
            "trace", "a message's life, of 'trace'", Self.heading,
            [
                "mqtt_topic": .text, "qos": .integer, "dup": .flag, "retain": .flag, "packet_id?": .integer,
                "connection": .integer,
                "events": .list([
                    "event": .text, "at": .time, "offset_ms": .integer, "attempt?": .integer, "failure?": .text,
                    "retry_in_ms?": .integer, "result?": .text, "late?": .flag, "action?": .text, "reason?": .text,
                ]),
                "missing": .texts, "payload?": .any, "payload_text?": .text, "payload_hex?": .text,
            ]),
        OutputLine(
            "inbox", "the counts of 'inbox stats'",
            OutputMembers((Self.counts + ["unaccounted"]).map { ($0, .integer) })),
        OutputLine("retried", "a message that is tried again", ["id": .integer]),
        OutputLine("adopted", "what came of 'inbox adopt'", ["from": .text, "messages": .integer]),
        OutputLine("dropped", "a message that is gone", ["id": .integer]),
        OutputLine(
            "recorded", "a line of 'listen --record'", ["id": .integer, "received_at_ms": .integer, "payload": .text]),
    ]

    private static let ofPayloads: [OutputLine] = [
        OutputLine(
            "explanation", "what 'explain' says of a payload; of one that is no JSON only refused and findings",
            [
                "kind?": .text,
                "decided_by?": .object(["key": .any, "pointer?": .text, "field?": .text, "because": .text]),
                "keys?": .word(["short", "long"]), "keys_because?": .text, "bytes?": .integer,
                "fields?": .list(Self.explainedMember),
                "aps?": .object(["value": .any, "keys": .list(Self.explainedMember)]), "custom?": .list(Self.remark),
                "ignored?": .list(Self.remark),
                "findings": .list([
                    "code": .text, "level": .word(["error", "warning", "note"]), "pointer": .text, "message": .text,
                    "advice": .text,
                ]),
                "refused?": .object([
                    "code": .text, "reason": .text, "pointer?": .text, "byte?": .integer, "line?": .integer,
                    "column?": .integer,
                ]),
                "names?": .object(["sender?": Self.sender] + Self.names),
            ]),
        OutputLine(
            "fixture", "an example of 'send fixtures'",
            ["name": .text, "for": .word(["message", "object"]), "purpose": .text, "body": .any]),
    ]

    private static let explainedMember: OutputMembers = [
        "pointer": .text, "name": .text, "value?": .any, "meaning": .text, "reading?": .text, "source": .text,
    ]
    private static let remark: OutputMembers = ["pointer": .text, "value?": .any, "because": .text]

    static let counts = [
        "received", "duplicates", "waiting", "running", "presented", "done", "dead", "expired", "lost", "dropped",
    ]

    static let target: OutputMembers = ["kind": .word(["topic", "bucket"]), "name": .text, "scope": .text]
    private static let sender = OutputShape.object(["kind": .word(["user", "thing", "admin", "other"]), "id?": .text])
    private static let names: OutputMembers = [
        "topic?": .object(Self.target), "bucket?": .object(Self.target), "object?": .text,
    ]
    /// What a stored message is, and where it stands.
    private static let heading: OutputMembers = [
        "id": .integer, "state": .word(["waiting", "running", "retry", "presented", "done", "dead"]), "since?": .time,
        "due_at?": .time, "reason?": .text, "kind?": .text, "topic?": .object(Self.target),
        "bucket?": .object(Self.target), "object?": .text, "installation?": .text, "received_at": .time,
        "bytes": .integer,
    ]
}
