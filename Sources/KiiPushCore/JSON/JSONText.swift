enum JSONText {
    static func string(in document: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool) -> String {
        let span = document.extracting(range)
        guard isEscaped else {
            // Unchecked: the scanner validated every string of the document as UTF-8.
            return String(copying: unsafe UTF8Span(unchecked: span))
        }
        // The capacity suffices: an escape is never shorter than its character in UTF-8.
        return String(unsafeUninitializedCapacity: range.count) { buffer in
            var written = 0
            var position = 0
            while position < span.count {
                let byte = span[position]
                if byte != UInt8(ascii: "\\") {
                    buffer[written] = byte
                    written += 1
                    position += 1
                    continue
                }
                let (scalar, length) = JSONText.escape(in: span, at: position)
                position += length
                for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    buffer[written] = unit
                    written += 1
                }
            }
            return written
        }
    }

    private static func escape(in span: Span<UInt8>, at position: Int) -> (Unicode.Scalar, length: Int) {
        switch span[position + 1] {
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "f"): return ("\u{0C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"):
            let unit = JSONText.unit(in: span, at: position + 2)
            if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
            let low = JSONText.unit(in: span, at: position + 8)
            let scalar = Unicode.Scalar(0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF)))
            return (scalar ?? "\u{FFFD}", 12)
        case let literal: return (Unicode.Scalar(literal), 2)
        }
    }

    private static func unit(in span: Span<UInt8>, at position: Int) -> UInt32 {
        (0..<4).reduce(0) { unit, offset in
            unit << 4 | UInt32(hexadecimalValue(span[position + offset]) ?? 0)
        }
    }
}
