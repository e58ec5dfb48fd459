/// The fields of a payload in the family that was chosen for it, read when they are asked for.
///
/// It retains the payload's bytes and holds one offset a field; see ``PayloadScan``.
struct PayloadFields: Sendable {
    let offsets: FieldOffsets
    let payload: JSONSlice

    var kindReason: KindReason { self.payload.bytes.withUnsafeBufferPointer { KindReason(self.offsets, at: $0) } }

    /// The text of a field: a string's content, otherwise the scalar as it is written; nil for null and for anything nested.
    func text(_ field: MessageField) -> String? { self.value(slot: field.rawValue)?.scalarText }

    /// The text of a field that must have a character to mean anything, such as an ID.
    func nonEmptyText(_ field: MessageField) -> String? { self.addressText(slot: field.rawValue) }

    /// The text of `senderURI` or `sourceURI`; nil in a payload with short keys, and if it is empty.
    func addressText(slot: Int) -> String? { self.value(slot: slot)?.scalarText.flatMap { $0.isEmpty ? nil : $0 } }

    func address(slot: Int) -> KiiURI? { self.addressText(slot: slot).map(KiiURI.init) }

    /// A field in milliseconds, as a number or, as on GCM, as a string; nil for anything that is no whole number.
    func timestamp(_ field: MessageField) -> Timestamp? {
        guard let value = self.value(slot: field.rawValue) else { return nil }
        let milliseconds = value.int64 ?? value.string.flatMap { JSONNumber($0)?.int64 }
        return milliseconds.map(Timestamp.init(millisecondsSinceEpoch:))
    }

    /// The value of a field, or of one of the two addresses; see ``FieldOffsets``.
    func value(slot: Int) -> JSONValue? {
        let start = self.offsets[slot]
        guard start != 0 else { return nil }
        return JSONValue(slice: JSONSlice(bytes: self.payload.bytes, memberValueAt: start))
    }
}

extension JSONValue {
    /// A string's content, any other scalar as it is written; nil for null, arrays and objects.
    fileprivate var scalarText: String? {
        switch self.kind {
        case .string: self.string
        case .number: self.number?.text
        case .bool: self.bool == true ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
