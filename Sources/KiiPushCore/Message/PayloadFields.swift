struct PayloadFields: Sendable {
    let offsets: FieldOffsets
    let payload: JSONSlice

    var kindReason: KindReason { self.payload.bytes.withUnsafeBufferPointer { KindReason(self.offsets, at: $0) } }

    /// A string's content, or a number or Boolean as written; `nil` for null, arrays and objects.
    func text(_ field: MessageField) -> String? { self.value(slot: field.rawValue)?.scalarText }

    func nonEmptyText(_ field: MessageField) -> String? { self.addressText(slot: field.rawValue) }

    /// `nil` if absent or empty. A payload with short keys has no addresses.
    func addressText(slot: Int) -> String? { self.value(slot: slot)?.scalarText.flatMap { $0.isEmpty ? nil : $0 } }

    func address(slot: Int) -> KiiURI? { self.addressText(slot: slot).map(KiiURI.init) }

    func timestamp(_ field: MessageField) -> Timestamp? {
        self.value(slot: field.rawValue)?.milliseconds.map(Timestamp.init(millisecondsSinceEpoch:))
    }

    func value(slot: Int) -> JSONValue? {
        let start = self.offsets[slot]
        guard start != 0 else { return nil }
        return JSONValue(slice: JSONSlice(bytes: self.payload.bytes, memberValueAt: start))
    }
}

extension JSONValue {
    /// The whole number, which GCM sends as a string; `nil` for any other value.
    var milliseconds: Int64? { self.int64 ?? self.string.flatMap { JSONNumber($0)?.int64 } }

    fileprivate var scalarText: String? {
        switch self.kind {
        case .string: self.string
        case .number: self.number?.text
        case .bool: self.bool == true ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
