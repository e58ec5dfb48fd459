/// The fields of a payload in the family that was chosen for it, read when they are asked for.
///
/// It retains the payload's bytes and holds one offset a field; see ``PayloadScan``.
struct PayloadFields: Sendable {
    let payload: JSONSlice
    let family: KeyFamily
    private var starts = InlineArray<17, UInt32>(repeating: 0)

    init(_ scan: PayloadScan, of bytes: [UInt8], family: KeyFamily) {
        self.payload = JSONSlice(bytes: bytes, range: scan.range)
        self.family = family
        switch family {
        case .long:
            for slot in 0..<17 { self.starts[slot] = scan[PayloadKey.longFields + slot] }
        case .short:
            for slot in 0..<15 { self.starts[slot] = scan[PayloadKey.shortFields + slot] }
        }
    }

    /// Whether the payload has the field's key, whatever its value: this is what decides about a message's kind.
    func has(_ field: MessageField) -> Bool { self.starts[field.rawValue] != 0 }

    subscript(field: MessageField) -> JSONValue? { self.value(slot: field.rawValue) }

    /// The text of a field: a string's content, otherwise the scalar as it is written; nil for null.
    func text(_ field: MessageField) -> String? { self[field]?.scalarText }

    /// The text of a field that must have a character to mean anything, such as an ID.
    func nonEmptyText(_ field: MessageField) -> String? {
        self.text(field).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of `senderURI` or `sourceURI`; nil in a payload with short keys.
    func text(slot: Int) -> String? { self.value(slot: slot)?.scalarText }

    /// A field in milliseconds, as a number or, as on GCM, as a string; nil for anything that is no whole number.
    func timestamp(_ field: MessageField) -> Timestamp? {
        guard let value = self[field] else { return nil }
        let milliseconds = value.int64 ?? value.string.flatMap { JSONNumber($0)?.int64 }
        return milliseconds.map(Timestamp.init(millisecondsSinceEpoch:))
    }

    /// The first field whose value is an array or an object, which no field of Kii's can be.
    func firstContainer() -> (slot: Int, kind: JSONValue.Kind)? {
        for slot in 0..<17 where self.starts[slot] != 0 {
            switch self.payload.bytes[Int(self.starts[slot])] {
            case UInt8(ascii: "{"): return (slot, .object)
            case UInt8(ascii: "["): return (slot, .array)
            default: continue
            }
        }
        return nil
    }

    /// The key of a slot in this family.
    func key(slot: Int) -> String {
        switch slot {
        case PayloadKey.senderURI: "senderURI"
        case PayloadKey.sourceURI: "sourceURI"
        default: MessageField(rawValue: slot)?.key(in: self.family) ?? ""
        }
    }

    /// Lends the bytes of a field's text, unescaped; none if it is absent. Makes a string only of text with escapes.
    @inline(__always)
    func withText<Result>(slot: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = Int(self.starts[slot])
        let bytes = self.payload.bytes
        return bytes.withUnsafeBufferPointer { buffer in
            guard start != 0, let base = buffer.baseAddress else {
                return body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
            guard base[start] == UInt8(ascii: "\"") else {
                let end = JSONCursor.endOfValue(base, start: start)
                return body(UnsafeRawBufferPointer(start: base + start, count: end - start))
            }
            let content = JSONCursor.stringRange(base, quote: start)
            guard content.isEscaped else {
                return body(UnsafeRawBufferPointer(start: base + content.start, count: content.end - content.start))
            }
            var text = JSONText.string(in: bytes, content.start..<content.end, isEscaped: true)
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
    }

    private func value(slot: Int) -> JSONValue? {
        let start = Int(self.starts[slot])
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
