/// A value of a payload that was left out, since its key takes another type there.
///
/// The message is sound without it, and ``ReceivedMessage/rawPayload`` still has the value. Safe to log: it holds a place
/// and kinds, never a value.
public struct PayloadFinding: Sendable, Hashable, CustomStringConvertible {
    /// Where the value stands, from the payload's top level.
    package let pointer: JSONPointer
    /// What the key takes, in words such as "a whole number".
    package let expected: String
    /// What stands there.
    package let found: JSONValue.Kind

    init(_ value: JSONValue, at pointer: JSONPointer, expected: String) {
        self.pointer = pointer
        self.expected = expected
        self.found = value.kind
    }

    /// One line: the place, what stands there, and what the key takes.
    public var description: String {
        "left out: \(self.pointer.abbreviated) is \(self.found.phrase), not \(self.expected)"
    }
}

extension ReceivedMessage {
    /// What was left out of the message for being of the wrong type: first values under Kii's keys, then those in `aps`.
    ///
    /// Kii refuses nested data, so an array or object under one of its keys is the sender's own; the field is `nil` then.
    /// Worked out when asked for. Empty for nearly every message.
    public var findings: [PayloadFinding] {
        var findings: [PayloadFinding] = []
        func look(at slot: Int, _ key: @autoclosure () -> String) {
            guard let value = self.fields.value(slot: slot), value.kind == .array || value.kind == .object else {
                return
            }
            findings.append(PayloadFinding(value, at: JSONPointer(tokens: [key()]), expected: "a single value"))
        }
        for field in MessageField.allCases { look(at: field.rawValue, field.key(in: self.keyFamily)) }
        look(at: PayloadKey.senderURI, "senderURI")
        look(at: PayloadKey.sourceURI, "sourceURI")
        if let content { return findings + content.findings }
        if self.keyFamily == .short, let aps = self["aps"], !aps.isNull {
            findings.append(PayloadFinding(aps, at: JSONPointer(tokens: ["aps"]), expected: "an object"))
        }
        return findings
    }
}

extension JSONValue {
    /// A string; nil, and a finding, for anything else.
    func text(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> String? {
        if let string = self.string { return string }
        findings.append(PayloadFinding(self, at: place(), expected: "a string"))
        return nil
    }

    /// Strings; nulls are left out. None, and a finding for each other value, if there is one: arguments that have moved
    /// up would stand in the wrong place of their text.
    func texts(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> [String] {
        guard let elements = self.array else {
            findings.append(PayloadFinding(self, at: place(), expected: "an array of strings"))
            return []
        }
        let present = elements.enumerated().filter { !$1.isNull }
        let texts = present.compactMap { $1.text(&findings, at: place().appending($0)) }
        return texts.count == present.count ? texts : []
    }

    /// A truth value, or whether a number is other than zero; nil, and a finding, for anything else.
    func flag(_ findings: inout [PayloadFinding], at place: @autoclosure () -> JSONPointer) -> Bool? {
        if let bool = self.bool { return bool }
        if let number = self.number { return number != JSONNumber(0) }
        findings.append(PayloadFinding(self, at: place(), expected: "true, false or a number"))
        return nil
    }
}
