extension OutputLine {
    static let ofTheCloud: [OutputLine] = [
        OutputLine("registration", "what came of 'register'", Self.identity),
        OutputLine(
            "subscription", "what came of 'subscribe' and 'unsubscribe', and what 'subscriptions' found",
            Self.target,
            [
                .has("subscribed", .flag), .may("changed", .flag), .may("created", .flag),
                .may("known_by", .word(["profile", "configuration", "cloud"])),
            ]),
        OutputLine("topic", "a topic of 'subscriptions --available'", Self.target),
        OutputLine(
            "difference", "what 'sync' finds",
            Self.target, [.has("difference", .word(["missing", "surplus"])), .has("changed", .flag)]),
        OutputLine(
            "sent", "what came of 'send'",
            [
                .has("id", .text),
                .has(
                    "target",
                    .object([
                        .has("kind", .word(["topic", "bucket", "user"])), .may("name", .text), .may("scope", .text),
                        .may("id", .text),
                    ])),
                .may("receivers", .integer),
            ]),
        OutputLine(
            "request", "what 'send --dry-run' would send",
            [
                .has("method", .text), .has("url", .text), .has("as", .text), .has("media_type", .text),
                .has("body", .any),
            ]),
    ]

    static let ofTheTool: [OutputLine] = [
        OutputLine(
            "check", "a check of 'doctor'; code is such as DNS and stable, exit is the code that a failure stands for",
            [
                .has("code", .text), .may("server", .word(["cloud", "broker"])), .has("title", .text),
                .has("outcome", .word(["ok", "warning", "failed", "skipped"])), .has("evidence", .text),
                .may("fix", .text), .may("exit", .integer),
            ]),
        OutputLine(
            "setting", "a setting of 'config show'; a secret has no value",
            [
                .has("name", .text), .has("secret", .flag), .has("set", .flag), .may("value", .text),
                .may(
                    "origin",
                    .object([
                        .has("kind", .word(["option", "environment", "file", "registration", "emulator", "default"])),
                        .may("name", .text), .may("path", .text), .may("place", .text), .may("pointer", .text),
                    ])),
            ]),
        OutputLine(
            "path", "a file of 'config path'", [.has("kind", .text), .has("path", .text), .has("exists", .flag)]),
        OutputLine(
            "emulator", "where the emulator is",
            [
                .has("baseURL", .text), .may("httpsBaseURL", .text), .has("appID", .text), .has("mqttPort", .integer),
                .has("mqttTLSPort", .integer), .has("file", .text),
            ]),
        OutputLine(
            "help",
            "what 'help --json' prints; commands holds the same of each command below, and a topic has name and text",
            [
                .has("name", .text), .may("path", .text), .may("version", .text), .may("abstract", .text),
                .may("usage", .text), .may("aliases", .texts),
                .may("examples", .list([.has("purpose", .text), .has("line", .text)])), .may("discussion", .texts),
                .may("arguments", .list(Self.argument)), .may("options", .list(Self.argument)),
                .may(
                    "exit_codes", .list([.has("code", .integer), .has("category", .text), .has("meaning", .text)])),
                .may("environment", .list([.has("name", .text), .has("meaning", .text)])), .may("commands", .any),
                .may("topics", .texts), .may("text", .text),
            ]),
        OutputLine(
            "error", "why a command failed; exit is its exit code",
            [
                .has("category", .text), .has("message", .text), .may("code", .text), .may("http_status", .integer),
                .may("in_doubt", .flag), .may("hint", .text), .has("exit", .integer),
            ]),
    ]

    private static let identity: [OutputMember] = [
        .has("profile", .text), .has("cloud", .text), .has("appID", .text),
        .has("principal", .object([.has("kind", .word(["user", "thing"])), .has("id", .text)])),
        .has(
            "account",
            .object([
                .has("kind", .word(["pseudoUser", "user", "thing"])), .may("name", .text), .may("vendorThingID", .text),
                .may("type", .text),
            ])),
        .has("installationID", .text), .has("payload", .word(["mqtt", "apns"])), .has("state", .text),
    ]
    private static let argument: [OutputMember] = [
        .has("names", .texts), .may("value", .text), .has("help", .text), .may("default", .text), .may("bare", .text),
        .may("completes", .text), .may("values", .texts), .has("required", .flag), .has("repeatable", .flag),
        .may("section", .text),
    ]
}
