import Glibc

/// One value of a parsed document: the document's bytes, retained, and where in them the value stands. The bytes passed
/// ``JSONScanner`` before the slice was made, so whoever reads them again need not check them again.
struct JSONSlice: Sendable {
    let bytes: [UInt8]
    private let start: UInt32
    private let end: UInt32

    /// Marks `range`, which holds exactly one value that was scanned, without white space around it.
    init(bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        self.start = UInt32(range.lowerBound)
        self.end = UInt32(range.upperBound)
    }

    /// Marks the value that starts at `start` inside an object or array of a scanned document.
    init(bytes: [UInt8], memberValueAt start: Int) {
        let end = bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { JSONCursor.endOfValue($0, start: start) } ?? start
        }
        self.init(bytes: bytes, range: start..<end)
    }

    var range: Range<Int> { Int(self.start)..<Int(self.end) }

    /// The value's own bytes; not copied if it is the whole document.
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

    /// The truth value; asked of a `bool` only.
    var bool: Bool { self.bytes[Int(self.start)] == UInt8(ascii: "t") }

    /// Whether the text is written with an escape; asked of a `string` only.
    var isEscaped: Bool { self.bytes[self.range].contains(UInt8(ascii: "\\")) }

    /// The text; asked of a `string` only.
    var string: String {
        let content = Int(self.start) + 1..<Int(self.end) - 1
        return JSONText.string(in: self.bytes.span, content, isEscaped: self.isEscaped)
    }

    /// The digits as they stand; asked of a `number` only.
    var numberText: String { JSONText.string(in: self.bytes.span, self.range, isEscaped: false) }

    /// The number, if it is written as a plain integer short enough never to overflow; asked of a `number` only.
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

    /// All members in document order, also those whose key comes again; asked of an `object` only.
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

    /// Where a member's key, without its quotes, and its value stand.
    typealias PlainMember = (key: Range<Int>, value: Range<Int>)

    /// All members, if their keys are written without an escape, and each once; otherwise `nil`, as for an object of so
    /// many members that comparing each key with every other takes long. Asked of an `object` only.
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

    /// All elements; asked of an `array` only.
    func elements() -> [JSONValue] {
        var elements: [JSONValue] = []
        self.bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            var cursor = JSONCursor(base: base, container: Int(self.start))
            while let element = cursor.nextElement() { elements.append(JSONValue(slice: self.slice(element))) }
        }
        return elements
    }

    /// The last member with `key`, without materialising any other; asked of an `object` only.
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
