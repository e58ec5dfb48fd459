package import KiiPushCore

extension PayloadExplanation {
    /// The page for people. Texts of senders are escaped for a terminal.
    package func text(_ style: TerminalStyle) -> String {
        let message = MessageText(self.message)
        let keys = self.message.keyFamily == .short ? "short (APNs)" : "long (MQTT, GCM, FCM)"
        let head: [(String, String)] = [
            ("kind", style(self.message.kind.text, .bold)), ("because", self.why),
            ("keys", "\(keys): \(self.keysReason)"),
        ]
        var lines = (head + message.facts + [("size", self.size.text(of: "byte"))]).map { "\($0.padded(to: 10))\($1)" }
        lines += Self.section("fields", self.listing.fields.flatMap(Self.lines))
        lines += Self.section("aps", self.listing.aps.flatMap(Self.lines))
        lines += Self.section("custom", self.listing.custom.flatMap(Self.lines))
        lines += Self.section("ignored", self.listing.ignored.flatMap(Self.lines))
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
        let level = finding.code.level
        let word = style(level.rawValue, level == .error ? .red : level == .warning ? .yellow : .dim)
        return [
            "\(word) \(finding.code.name) at \(finding.place.terminalSafe)", "    \(finding.message.terminalSafe)",
            "    do: \(finding.code.advice)",
        ]
    }

    package var complaint: String {
        let problems = self.findings.filter(\.isProblem)
        return "\(problems.count) \(problems.count == 1 ? "thing is" : "things are") wrong with the payload: "
            + problems.map { "\($0.code.name) at \($0.place)" }.joined(separator: ", ")
    }

    package static func forPage(_ payload: [UInt8]) -> JSONValue {
        func finding(_ severity: String, _ pointer: String, _ text: String) -> JSONValue {
            ["severity": JSONValue(severity), "pointer": JSONValue(pointer), "text": JSONValue(text)]
        }
        do throws(MessageError) {
            let explanation = try PayloadExplanation(payload, keys: .auto)
            let findings = explanation.findings.map {
                finding($0.code.level.rawValue, $0.pointer.description, "\($0.message); \($0.code.advice)")
            }
            let message = JSONValue.object(explanation.members.filter { $0.0 != "findings" })
            return ["findings": JSONValue(findings), "message": message]
        } catch {
            return ["findings": [finding("error", "", error.description)], "message": .null]
        }
    }

    package var members: [(String, JSONValue)] {
        let isShort = self.message.keyFamily == .short
        let aps: JSONValue? =
            if isShort, let aps = self.payload["aps"] { ["value": aps, "keys": self.listing.aps.json] } else { .none }
        return .init([
            "kind": self.message.kind.name, "decided_by": self.decision, "keys": isShort ? "short" : "long",
            "keys_because": self.keysReason, "bytes": self.size, "fields": self.listing.fields.json, "aps": aps,
            "custom": self.listing.custom.json, "ignored": self.listing.ignored.json, "findings": self.findings.json,
            "names": JSONValue.object(self.message.sourceMembers),
        ])
    }

    private var decision: JSONValue {
        let field = self.message.kindReason.field
        let key = field?.key(in: self.message.keyFamily)
        return JSONValue.object(present: [
            "key": key.map { JSONValue($0) } ?? JSONValue.null, "pointer": key.map { "/" + $0 },
            "field": field?.key(in: .long), "because": self.why,
        ])
    }
}

extension Array where Element: JSONConvertible {
    fileprivate var json: JSONValue { JSONValue(self.map(\.json)) }
}

extension PayloadExplanation.Member: JSONConvertible {
    package var json: JSONValue {
        JSONValue.object(present: [
            "pointer": self.pointer.description, "name": self.name, "value": self.value,
            "meaning": self.meaning.text, "reading": self.reading, "source": self.meaning.source,
        ])
    }
}

extension PayloadExplanation.Remark: JSONConvertible {
    package var json: JSONValue {
        JSONValue.object(present: ["pointer": self.pointer.description, "value": self.value, "because": self.why])
    }
}

extension LintFinding: JSONConvertible {
    package var json: JSONValue {
        JSONValue.object(present: [
            "code": self.code.name, "level": self.code.level.rawValue, "pointer": self.pointer.description,
            "message": self.message, "advice": self.code.advice,
        ])
    }

    fileprivate var place: String { self.pointer.tokens.isEmpty ? "the payload" : self.pointer.description }
}
