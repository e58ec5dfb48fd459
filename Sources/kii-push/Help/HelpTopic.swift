import KiiPushCommandLine

/// A page that belongs to no single command: `kii-push help TOPIC`.
struct HelpTopic: Sendable {
    let name: String
    /// Returns the page, with a final line feed. Prose is wrapped to `width` columns.
    let text: @Sendable (_ width: Int) -> String

    static let all: [HelpTopic] = [
        HelpTopic(name: "scopes", text: scopesText),
        HelpTopic(name: "files", text: FilesTopic.text),
        HelpTopic(name: "environment") { width in
            page(
                "The environment variables that kii-push reads.",
                EnvironmentVariable.allCases.filter { !EnvironmentVariable.ofGateways.contains($0) }.map(\.row),
                precedence,
                width: width)
        },
        HelpTopic(name: "exit-codes") { width in
            page(
                "What the exit codes of kii-push mean (sysexits.h, and those of timeout(1) and the shell).",
                ExitStatus.allCases.map(\.row), brokenOutput, width: width)
        },
        HelpTopic(name: "json") { width in
            jsonParagraphs.map { wrapped($0, width: width) + "\n" }.joined(separator: "\n")
        },
        HelpTopic(name: "formatting", text: MessageFormat.help),
        HelpTopic(name: "findings", text: LintCode.help),
    ]

    static let precedence =
        "An option wins over the environment, and that over a file, but for the secrets that systemd hands over in "
        + "$CREDENTIALS_DIRECTORY: those win over the environment."

    static let brokenOutput =
        "When whoever reads the output goes away, as in 'kii-push help | head -1', the command ends without a word, and "
        + "that is success. Output that is closed or cannot be written for another reason is 74."

    private static let jsonParagraphs = [
        "What --json prints: one object a line, each with \"v\": 1 and \"type\". Members may be added; those that exist do "
            + "not change while \"v\" stays 1. Times are RFC 3339 in UTC, durations end in _ms.",
        "The JSON Schema of every line is Documentation/output.schema.json, which is installed as "
            + "share/doc/kii-push/output.schema.json; config.schema.json beside it is that of config.json.",
        "Lines of the types error and service go to standard error, recorded ones to the file of --record, all others "
            + "to standard output. \"in_doubt\": true tells that it may have been done all the same, and would be done "
            + "twice by the same command.",
    ]

    private static func scopesText(_ width: Int) -> String {
        page(
            "How topics and buckets are written, in every command.",
            [
                ("alerts", "in the scope of the app"), ("user:me/alerts", "of the user that the profile receives as"),
                ("user:USER_ID/alerts", "of the user with this ID"), ("group:GROUP_ID/alerts", "of a group"),
                ("thing:me/alerts", "of the thing that the profile receives as"),
                ("thing:THING_ID/alerts", "of the thing with this ID"),
            ],
            "Where a scope alone is asked for, the part before the slash is written: app, user:me, group:GROUP_ID, "
                + "thing:THING_ID.",
            width: width)
    }
}
