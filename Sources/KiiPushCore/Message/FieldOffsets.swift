/// Offsets of the values of a payload's fields; 0 for an absent field. Plain numbers, so that decoding costs no
/// reference counting.
struct FieldOffsets: Sendable {
    let family: KeyFamily
    private var starts = InlineArray<17, UInt32>(repeating: 0)

    @inline(__always)
    init(_ scan: PayloadScan, family: KeyFamily) {
        self.family = family
        scan.copyStarts(of: PayloadKey.fields(family), into: &self.starts)
    }

    /// The slot is a ``MessageField``'s raw value, or ``PayloadKey/senderURI`` or ``PayloadKey/sourceURI``.
    @inline(__always)
    subscript(slot: Int) -> Int { Int(self.starts[slot]) }

    @inline(__always)
    func has(_ field: MessageField) -> Bool { self[field.rawValue] != 0 }

    /// Passes a field's bytes to `body`: a string unescaped, a value of any other type as written, nothing if the field
    /// is absent. Safety: the caller keeps the scanned payload alive.
    @inline(__always)
    func withText<Result>(
        slot: Int, at payload: UnsafeBufferPointer<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let start = self[slot]
        guard start != 0, let base = payload.baseAddress else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        guard base[start] == UInt8(ascii: "\"") else {
            let end = JSONCursor.endOfValue(base, start: start)
            return body(UnsafeRawBufferPointer(start: base + start, count: end - start))
        }
        let content = JSONCursor.stringRange(base, quote: start)
        let count = content.end - content.start
        guard content.isEscaped else {
            return body(UnsafeRawBufferPointer(start: base + content.start, count: count))
        }
        let span = unsafe Span(_unsafeStart: base + content.start, count: count)
        var text = JSONText.string(in: span, 0..<count, isEscaped: true)
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
