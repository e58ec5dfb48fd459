import KiiPushCore

/// What `doctor` shows.
extension Console {
    func show(_ check: Check) throws {
        let (key, finding) = (check.key, check.finding)
        let style: TextStyle =
            switch finding.outcome {
            case .ok: .green
            case .warning: .yellow
            case .failed: .red
            case .skipped: .dim
            }
        let outcome = self.style(finding.outcome.rawValue.padded(to: 9), style)
        try self.line("\(outcome)\(key.text.padded(to: 19))\(finding.evidence.terminalSafe)")
        try self.object(
            "check",
            [
                "code": key.code.rawValue, "server": key.server?.rawValue, "title": key.code.title,
                "outcome": finding.outcome.rawValue, "evidence": finding.evidence, "fix": finding.fix,
                "exit": finding.exit?.rawValue,
            ])
    }
}
