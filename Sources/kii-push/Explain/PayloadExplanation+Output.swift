import KiiPushCore

extension PayloadExplanation {
    /// The page for people. Everything that came from outside is made safe for a terminal.
    func text(_ style: TerminalStyle) -> String {
        let message = MessageText(self.message, style: style)
        let keys = self.message.keyFamily == .short ? "short (APNs)" : "long (MQTT, GCM, FCM)"
        let head: [(String, String)] = [
            ("kind", message.kind), ("because", self.why), ("keys", "\(keys): \(self.keysReason)"),
        ]
        let size = self.size == 1 ? "1 byte" : "\(self.size) bytes"
        var lines = (head + message.facts + [("size", size)]).map { "\($0.padded(to: 10))\($1)" }
        lines += Self.section("fields", self.fields.flatMap(Self.lines))
        lines += Self.section("aps", self.aps.flatMap(Self.lines))
        lines += Self.section("custom", self.custom.flatMap(Self.lines))
        lines += Self.section("ignored", self.ignored.flatMap(Self.lines))
        lines += Self.section("findings", self.findings.flatMap { Self.lines($0, style) })
        return lines.joined(separator: "\n")
    }

    private static func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", title] + lines.map { "  " + $0 }
    }

    private static func head(_ pointer: JSONPointer, _ value: JSONValue?) -> String {
        guard let value else { return pointer.description.terminalSafe }
        return "\(pointer.description.terminalSafe.padded(to: 22)) \(value.terminalText)"
    }

    private static func lines(_ member: Member) -> [String] {
        let reading = member.reading.map { " Here: \($0)." } ?? ""
        let meaning = "    \(member.meaning.text)\(reading) [\(member.meaning.source)]"
        return [self.head(member.pointer, member.value), meaning]
    }

    private static func lines(_ remark: Remark) -> [String] {
        [self.head(remark.pointer, remark.value), "    \(remark.why)"]
    }

    private static func lines(_ finding: LintFinding, _ style: TerminalStyle) -> [String] {
        let place = finding.pointer.tokens.isEmpty ? "the payload" : finding.pointer.description.terminalSafe
        let level = finding.code.level
        let word = style(level.rawValue, level == .error ? .red : level == .warning ? .yellow : .dim)
        return [
            "\(word) \(finding.code.rawValue) at \(place)", "    \(finding.message.terminalSafe)",
            "    do: \(finding.code.advice)",
        ]
    }

    /// What `--lint` says.
    var complaint: String {
        let problems = self.findings.filter(\.isProblem)
        let codes = problems.map { finding in
            "\(finding.code.rawValue) at \(finding.pointer.tokens.isEmpty ? "the payload" : finding.pointer.description)"
        }
        return "\(problems.count) \(problems.count == 1 ? "thing is" : "things are") wrong with the payload: "
            + codes.joined(separator: ", ")
    }
}

extension PayloadExplanation {
    /// The members of the object for programs.
    var members: [(String, JSONValue)] {
        let isShort = self.message.keyFamily == .short
        var members: [(String, JSONValue)] = [
            ("kind", JSONValue(self.message.kind.name)), ("decided_by", self.decision),
            ("keys", isShort ? "short" : "long"), ("keys_because", JSONValue(self.keysReason)),
            ("bytes", JSONValue(self.size)), ("fields", JSONValue(self.fields.map(\.json))),
        ]
        if let aps = self.payload["aps"], isShort {
            members.append(("aps", ["value": aps, "keys": JSONValue(self.aps.map(\.json))]))
        }
        members.append(("custom", JSONValue(self.custom.map(\.json))))
        members.append(("ignored", JSONValue(self.ignored.map(\.json))))
        members.append(("findings", JSONValue(self.findings.map(\.json))))
        members.append(("names", .object(self.message.sourceMembers)))
        return members
    }

    private var decision: JSONValue {
        var members: [(String, JSONValue)] = []
        if let field = self.message.kindReason.field {
            let key = field.key(in: self.message.keyFamily)
            members += [
                ("key", JSONValue(key)), ("pointer", JSONValue("/" + key)), ("field", JSONValue(field.key(in: .long))),
            ]
        } else {
            members.append(("key", .null))
        }
        return .object(members + [("because", JSONValue(self.why))])
    }
}

extension PayloadExplanation.Member {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("pointer", JSONValue(self.pointer.description)), ("name", JSONValue(self.name)),
        ]
        if let value { members.append(("value", value)) }
        members.append(("meaning", JSONValue(self.meaning.text)))
        if let reading { members.append(("reading", JSONValue(reading))) }
        members.append(("source", JSONValue(self.meaning.source)))
        return .object(members)
    }
}

extension PayloadExplanation.Remark {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [("pointer", JSONValue(self.pointer.description))]
        if let value { members.append(("value", value)) }
        members.append(("because", JSONValue(self.why)))
        return .object(members)
    }
}

extension LintFinding {
    fileprivate var json: JSONValue {
        [
            "code": JSONValue(self.code.rawValue), "level": JSONValue(self.code.level.rawValue),
            "pointer": JSONValue(self.pointer.description), "message": JSONValue(self.message),
            "advice": JSONValue(self.code.advice),
        ]
    }
}
