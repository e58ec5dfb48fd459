import KiiPushCore

extension CommandFailure {
    /// Reports on standard error why the process ends: a line with the reason and, if there is one, a line of advice; or
    /// one object with `--json`.
    func report(of program: String, asJSON: Bool, isVerbose: Bool) {
        let message = self.message.withoutCredentials
        let hint = self.hint?.withoutCredentials ?? self.helpPath.map { "see '\($0) --help'" }
        guard !asJSON else {
            let members: JSONLiteral = [
                "v": 1, "type": "error", "category": self.exit.category, "message": message, "code": self.code,
                "http_status": self.httpStatus, "in_doubt": self.isInDoubt ? true : nil, "hint": hint,
                "exit": self.exit.rawValue,
            ]
            return StandardStream.error.say(JSONValue.object(.init(members)).terminalText + "\n")
        }
        let indent = String(repeating: " ", count: program.count + 2)
        // Backslashes are not doubled: the message may quote the user's own words.
        var text = "\(program): \(message.escapingTerminalControls)\n"
        if let hint { text += "\(indent)\(hint.escapingTerminalControls)\n" }
        if isVerbose, let answer { text += "\(indent)the server said: \(answer.terminalSafe)\n" }
        StandardStream.error.say(text)
    }
}
