/// A payload value that the library dropped because its key requires another type.
///
/// The message is valid without it. Safe to log: contains a place and types, never a value.
public struct PayloadFinding: Sendable, Hashable, CustomStringConvertible {
    package let pointer: JSONPointer
    /// The required type in words, such as "a whole number".
    package let expected: String
    package let found: JSONValue.Kind

    init(_ value: JSONValue, at pointer: JSONPointer, expected: String) {
        self.pointer = pointer
        self.expected = expected
        self.found = value.kind
    }

    /// One line: the place, the value's type, and the required type.
    public var description: String {
        "left out: \(self.pointer.abbreviated) is \(self.found.phrase), not \(self.expected)"
    }
}

extension ReceivedMessage {
    /// Values dropped for a wrong type: first those under Kii's keys, then those in `aps`. Nearly always empty.
    public var findings: [PayloadFinding] {
        var findings: [PayloadFinding] = []
        func look(
            at slot: Int, _ key: @autoclosure () -> String, for expected: String, _ isRight: (JSONValue) -> Bool
        ) {
            guard let value = self.fields.value(slot: slot), !isRight(value), !value.isNull else { return }
            findings.append(PayloadFinding(value, at: JSONPointer(tokens: [key()]), expected: expected))
        }
        func lookForText(at slot: Int, _ key: @autoclosure () -> String) {
            look(at: slot, key(), for: "a single value") { $0.kind != .array && $0.kind != .object }
        }
        let family = self.keyFamily
        for field in MessageField.allCases {
            switch field {
            case .when, .objectModifiedAt:
                look(at: field.rawValue, field.key(in: family), for: "a whole number") { $0.milliseconds != nil }
            default: lookForText(at: field.rawValue, field.key(in: family))
            }
        }
        lookForText(at: PayloadKey.senderURI, "senderURI")
        lookForText(at: PayloadKey.sourceURI, "sourceURI")
        if let content { return findings + content.findings }
        if family == .short, let aps = self["aps"], !aps.isNull {
            findings.append(PayloadFinding(aps, at: JSONPointer(tokens: ["aps"]), expected: "an object"))
        }
        return findings
    }
}

extension JSONValue {
    func text(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> String? {
        if let string = self.string { return string }
        findings.append(PayloadFinding(self, at: place(), expected: "a string"))
        return nil
    }

    /// The arguments of a localized text. An element of a wrong type makes the result empty: without the element,
    /// later arguments would move to wrong places in the text. A null counts as absent.
    func texts(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> [String] {
        guard let elements = self.array else {
            findings.append(PayloadFinding(self, at: place(), expected: "an array of strings"))
            return []
        }
        let present = elements.enumerated().filter { !$1.isNull }
        let texts = present.compactMap { $1.text(&findings, at: place().appending($0)) }
        return texts.count == present.count ? texts : []
    }

    func flag(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> Bool? {
        if let bool = self.bool { return bool }
        if let number = self.number { return number != JSONNumber(0) }
        findings.append(PayloadFinding(self, at: place(), expected: "true, false or a number"))
        return nil
    }
}
