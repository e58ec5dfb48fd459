/// Checks a whole payload in one pass, and records the offsets of the values of known keys; 0 means absent.
struct PayloadScan {
    private(set) var range = 0..<0
    private var starts = InlineArray<35, UInt32>(repeating: 0)

    /// A span avoids the copy that each subscript of an inline array would make.
    @inline(__always)
    func copyStarts(of slots: Range<Int>, into starts: inout InlineArray<17, UInt32>) {
        let all = self.starts.span
        for slot in slots { starts[slot - slots.lowerBound] = all[slot] }
    }

    init(checking bytes: [UInt8]) throws(MessageError) {
        let limit = JSONValue.maximumBytes
        guard bytes.count <= limit else { throw .malformed(JSONError(code: .tooLarge, byteOffset: limit)) }
        do throws(JSONFault) {
            try bytes.withUnsafeBufferPointer { buffer throws(JSONFault) in
                guard let base = buffer.baseAddress else { throw JSONFault(.empty, at: 0) }
                var scanner = JSONScanner(base: base, count: buffer.count)
                try scanner.beginDocument()
                // ``refusal(of:)`` diagnoses a payload that is no object, outside the hot path.
                guard scanner.current == UInt8(ascii: "{") else { return }
                try self.readObject(&scanner, in: bytes)
                try scanner.endDocument()
            }
        } catch {
            throw .malformed(error.located(in: bytes))
        }
        if self.range.isEmpty { throw PayloadScan.refusal(of: bytes) }
    }

    private static func refusal(of bytes: [UInt8]) -> MessageError {
        do throws(JSONError) {
            return .notAnObject(found: try JSONValue(parsing: bytes).kind)
        } catch {
            return .malformed(error)
        }
    }

    func value(slot: Int, of bytes: [UInt8]) -> JSONValue? {
        let start = Int(self.starts[slot])
        guard start != 0 else { return nil }
        return JSONValue(slice: JSONSlice(bytes: bytes, memberValueAt: start))
    }

    @inline(__always)
    private mutating func readObject(_ scanner: inout JSONScanner, in bytes: [UInt8]) throws(JSONFault) {
        let start = scanner.position
        scanner.position += 1
        scanner.skipWhitespace()
        var isLast = scanner.current == UInt8(ascii: "}")
        while !isLast {
            let key = try scanner.skipKey()
            let value = scanner.position
            try scanner.skipValue(levels: JSONValue.maximumDepth - 1)
            // The last of several members with one key counts, as in JSONValue.
            if let slot = PayloadKey.slot(of: key, at: scanner.base, in: bytes) {
                self.starts[slot] = UInt32(truncatingIfNeeded: value)
            }
            scanner.skipWhitespace()
            switch scanner.current {
            case UInt8(ascii: ","):
                scanner.position += 1
                scanner.skipWhitespace()
            case UInt8(ascii: "}"): isLast = true
            case nil: throw JSONFault(.unexpectedEnd, at: scanner.position)
            default: throw JSONFault(.unexpectedByte, at: scanner.position)
            }
        }
        scanner.position += 1
        self.range = start..<scanner.position
    }
}
