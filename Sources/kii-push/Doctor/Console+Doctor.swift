import KiiPushCore

/// What `doctor` shows.
extension Console {
    func show(_ check: Check) throws {
        let style: TextStyle =
            switch check.outcome {
            case .ok: .green
            case .warning: .yellow
            case .failed: .red
            case .skipped: .dim
            }
        let outcome = self.style(check.outcome.rawValue.padded(to: 9), style)
        try self.line("\(outcome)\(check.key.text.padded(to: 19))\(check.evidence.terminalSafe)")
        var members: [(String, JSONValue)] = [("code", JSONValue(check.key.code.rawValue))]
        if let server = check.key.server { members.append(("server", JSONValue(server.rawValue))) }
        members += [
            ("title", JSONValue(check.key.code.title)), ("outcome", JSONValue(check.outcome.rawValue)),
            ("evidence", JSONValue(check.evidence)),
        ]
        if let fix = check.fix { members.append(("fix", JSONValue(fix))) }
        if let exit = check.exit { members.append(("exit", JSONValue(Int(exit.rawValue)))) }
        try self.object("check", members)
    }
}
