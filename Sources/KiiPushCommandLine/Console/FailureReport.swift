import KiiPushCore

/// Reports on standard error why the process ends: a line with the reason and, if there is one, a line of advice; or
/// one object with `--json`.
struct FailureReport {
    private(set) var failure: CommandFailure
    private let program: String

    init(_ failure: CommandFailure, of program: String) {
        self.failure = failure
        self.failure.message = failure.message.withoutCredentials
        self.failure.hint = failure.hint?.withoutCredentials
        self.program = program
    }

    func write(asJSON: Bool, isVerbose: Bool = false) {
        var text = asJSON ? self.json : self.text
        if isVerbose, !asJSON, let answer = self.failure.answer {
            text += "          the server said: \(answer.terminalSafe)\n"
        }
        StandardStream.error.say(text)
    }

    private var hint: String? { self.failure.hint ?? self.failure.helpPath.map { "see '\($0) --help'" } }

    private var text: String {
        // Backslashes are not doubled: the message may quote the user's own words.
        "\(self.program): \(self.failure.message.escapingTerminalControls)\n"
            + (self.hint.map { "          \($0.escapingTerminalControls)\n" } ?? "")
    }

    private var json: String {
        let members: JSONLiteral = [
            "v": 1, "type": "error", "category": self.failure.exit.category, "message": self.failure.message,
            "code": self.failure.code, "http_status": self.failure.httpStatus,
            "in_doubt": self.failure.isInDoubt ? true : nil, "hint": self.hint, "exit": self.failure.exit.rawValue,
        ]
        return JSONValue.object(.init(members)).terminalText + "\n"
    }
}
