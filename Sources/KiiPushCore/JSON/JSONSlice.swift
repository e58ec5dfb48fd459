import Glibc

/// One value of a parsed document, which ``JSONScanner`` has checked. Check ``kind`` before you call an accessor such
/// as ``string``.
struct JSONSlice: Sendable {
    let bytes: [UInt8]
    private let start: UInt32
    private let end: UInt32

    init(bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        self.start = UInt32(range.lowerBound)
        self.end = UInt32(range.upperBound)
    }

    init(bytes: [UInt8], memberValueAt start: Int) {
        let end = bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { JSONCursor.endOfValue($0, start: start) } ?? start
        }
        self.init(bytes: bytes, range: start..<end)
    }

    var range: Range<Int> { Int(self.start)..<Int(self.end) }

    var ownBytes: [UInt8] { self.range == self.bytes.indices ? self.bytes : Array(self.bytes[self.range]) }

    var kind: JSONValue.Kind {
        switch self.bytes[Int(self.start)] {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    var bool: Bool { self.bytes[Int(self.start)] == UInt8(ascii: "t") }

    var isEscaped: Bool { self.bytes[self.range].contains(UInt8(ascii: "\\")) }

    var string: String {
        let content = Int(self.start) + 1..<Int(self.end) - 1
        return JSONText.string(in: self.bytes.span, content, isEscaped: self.isEscaped)
    }

    var numberText: String { JSONText.string(in: self.bytes.span, self.range, isEscaped: false) }

    /// `nil` for a fraction or an exponent, and for more than 18 bytes, which could overflow.
    var shortInteger: Int64? {
        guard self.end - self.start <= 18 else { return nil }
        var magnitude: Int64 = 0
        var isNegative = false
        for byte in self.bytes[self.range] {
            if isDigit(byte) {
                magnitude = magnitude * 10 + Int64(byte - UInt8(ascii: "0"))
            } else if byte == UInt8(ascii: "-") {
                isNegative = true
            } else {
                return nil
            }
        }
        return isNegative ? -magnitude : magnitude
    }

    func members() -> [JSONMember] {
        var members: [JSONMember] = []
        self.bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            var cursor = JSONCursor(base: base, container: Int(self.start))
            while let (key, value) = cursor.nextMember() {
                let text = JSONText.string(in: self.bytes.span, key.start..<key.end, isEscaped: key.isEscaped)
                members.append(JSONMember(key: text, value: JSONValue(slice: self.slice(value))))
            }
        }
        return members
    }

    typealias PlainMember = (key: Range<Int>, value: Range<Int>)

    /// `nil` if a key is escaped or repeated, and above 32 members, where comparing all pairs of keys takes long.
    func plainMembers() -> [PlainMember]? {
        self.bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return nil }
            var members: [PlainMember] = []
            var cursor = JSONCursor(base: base, container: Int(self.start))
            while let (key, value) = cursor.nextMember() {
                let range = key.start..<key.end
                let isKnown = members.contains { member in
                    member.key.count == range.count
                        && memcmp(base + member.key.lowerBound, base + key.start, range.count) == 0
                }
                guard !key.isEscaped, !isKnown, members.count < 32 else { return nil }
                members.append((range, value))
            }
            return members
        }
    }

    func elements() -> [JSONValue] {
        var elements: [JSONValue] = []
        self.bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            var cursor = JSONCursor(base: base, container: Int(self.start))
            while let element = cursor.nextElement() { elements.append(JSONValue(slice: self.slice(element))) }
        }
        return elements
    }

    func member(_ key: String) -> JSONSlice? {
        var key = key
        let range: Range<Int>? = self.bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return nil }
            return key.withUTF8 { wanted in
                var found: Range<Int>?
                var cursor = JSONCursor(base: base, container: Int(self.start))
                while let (name, value) = cursor.nextMember() {
                    if name.spells(wanted, at: base, in: self.bytes) { found = value }
                }
                return found
            }
        }
        return range.map(self.slice)
    }

    func slice(_ range: Range<Int>) -> JSONSlice { JSONSlice(bytes: self.bytes, range: range) }
}
