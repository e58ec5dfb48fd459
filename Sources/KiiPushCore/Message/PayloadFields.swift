/// The fields of a payload, by the keys of its family; decoded on each access.
///
/// Retains the payload's bytes and holds one offset for each field; see ``PayloadScan``.
struct PayloadFields: Sendable {
    let offsets: FieldOffsets
    let payload: JSONSlice

    var kindReason: KindReason { self.payload.bytes.withUnsafeBufferPointer { KindReason(self.offsets, at: $0) } }

    /// The text of a field: a string's content, or another scalar as written; nil for null, arrays and objects.
    func text(_ field: MessageField) -> String? { self.value(slot: field.rawValue)?.scalarText }

    /// The text of a field; nil if empty, since an ID, for example, needs a character.
    func nonEmptyText(_ field: MessageField) -> String? { self.addressText(slot: field.rawValue) }

    /// The text of `senderURI` or `sourceURI`; nil if empty, and in a payload with short keys.
    func addressText(slot: Int) -> String? { self.value(slot: slot)?.scalarText.flatMap { $0.isEmpty ? nil : $0 } }

    func address(slot: Int) -> KiiURI? { self.addressText(slot: slot).map(KiiURI.init) }

    /// A field in milliseconds, as a number or, as GCM sends it, a string; nil if it is no whole number.
    func timestamp(_ field: MessageField) -> Timestamp? {
        guard let value = self.value(slot: field.rawValue) else { return nil }
        let milliseconds = value.int64 ?? value.string.flatMap { JSONNumber($0)?.int64 }
        return milliseconds.map(Timestamp.init(millisecondsSinceEpoch:))
    }

    /// The value of a field or of an address; for the slots see ``FieldOffsets``.
    func value(slot: Int) -> JSONValue? {
        let start = self.offsets[slot]
        guard start != 0 else { return nil }
        return JSONValue(slice: JSONSlice(bytes: self.payload.bytes, memberValueAt: start))
    }
}

extension JSONValue {
    fileprivate var scalarText: String? {
        switch self.kind {
        case .string: self.string
        case .number: self.number?.text
        case .bool: self.bool == true ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
