import KiiPushCore

/// Says on standard error why the process ends, in one line (and one for what to do) or, with `--json`, in one object.
struct FailureReport {
    let failure: CommandFailure
    /// The command whose help could be read, for a usage error.
    let helpPath: String?

    init(_ error: any Error) {
        if let usage = error as? UsageError {
            self.failure = CommandFailure(.usage, usage.message.withoutCredentials, hint: usage.hint)
            self.helpPath = usage.commandPath
        } else {
            var failure = CommandFailure(describing: error)
            failure.message = failure.message.withoutCredentials
            failure.hint = failure.hint?.withoutCredentials
            self.failure = failure
            self.helpPath = nil
        }
    }

    /// Writes the report; where standard error cannot be written to, the exit code alone has to do.
    func write(asJSON: Bool, isVerbose: Bool = false) {
        var text = asJSON ? self.json : self.text
        if isVerbose, !asJSON, let answer = self.failure.answer {
            text += "          the server said: \(answer.terminalSafe)\n"
        }
        try? StandardStream.error.write(text)
    }

    private var hint: String? { self.failure.hint ?? self.helpPath.map { "see '\($0) --help'" } }

    private var text: String {
        let first = "kii-push: \(self.failure.message.terminalSafe)\n"
        guard let hint = self.hint else { return first }
        return first + "          \(hint.terminalSafe)\n"
    }

    private var json: String {
        var members: [(String, JSONValue)] = [
            ("v", 1), ("type", "error"), ("category", JSONValue(self.failure.exit.category)),
            ("message", JSONValue(self.failure.message)),
        ]
        if let code = self.failure.code { members.append(("code", JSONValue(code))) }
        if let status = self.failure.httpStatus { members.append(("http_status", JSONValue(status))) }
        if self.failure.isInDoubt { members.append(("in_doubt", true)) }
        if let hint = self.hint { members.append(("hint", JSONValue(hint))) }
        members.append(("exit", JSONValue(Int(self.failure.exit.rawValue))))
        return JSONValue.object(members).terminalText + "\n"
    }
}
