import Glibc

/// Safety: `base` points to the bytes of a document that ``JSONScanner`` accepted. A value inside a container always
/// has a byte after it, so the loops below end within the document.
struct JSONCursor {
    private let base: UnsafePointer<UInt8>
    private var position: Int
    private var isAtStart = true

    init(base: UnsafePointer<UInt8>, container: Int) {
        self.base = base
        self.position = container + 1
    }

    mutating func nextMember() -> (key: JSONStringRange, value: Range<Int>)? {
        guard self.advance() else { return nil }
        let key = JSONCursor.stringRange(self.base, quote: self.position)
        self.position = key.end + 1
        self.skipWhitespace()
        self.position += 1  // the colon
        self.skipWhitespace()
        return (key, self.passValue())
    }

    mutating func nextElement() -> Range<Int>? { self.advance() ? self.passValue() : nil }

    private mutating func advance() -> Bool {
        self.skipWhitespace()
        switch self.base[self.position] {
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            return false
        case UInt8(ascii: ",") where !self.isAtStart:
            self.position += 1
            self.skipWhitespace()
        default: break
        }
        self.isAtStart = false
        return true
    }

    private mutating func passValue() -> Range<Int> {
        let start = self.position
        self.position = JSONCursor.endOfValue(self.base, start: start)
        return start..<self.position
    }

    private mutating func skipWhitespace() {
        while self.base[self.position] <= 0x20 { self.position += 1 }
    }

    /// The end of the value. The value must be inside a container.
    static func endOfValue(_ base: UnsafePointer<UInt8>, start: Int) -> Int {
        var position = start
        switch base[start] {
        case UInt8(ascii: "\""):
            return JSONCursor.stringRange(base, quote: start).end + 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var depth = 0
            while true {
                switch base[position] {
                case UInt8(ascii: "\""):
                    position = JSONCursor.stringRange(base, quote: position).end
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 0 { return position + 1 }
                default: break
                }
                position += 1
            }
        default:
            while true {
                switch base[position] {
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x00...0x20: return position
                default: position += 1
                }
            }
        }
    }

    static func stringRange(_ base: UnsafePointer<UInt8>, quote: Int) -> JSONStringRange {
        var position = quote + 1
        var isEscaped = false
        while base[position] != UInt8(ascii: "\"") {
            if base[position] == UInt8(ascii: "\\") {
                isEscaped = true
                position += 1
            }
            position += 1
        }
        return JSONStringRange(start: quote + 1, end: position, isEscaped: isEscaped)
    }
}

extension JSONStringRange {
    /// Compares byte by byte, as RFC 8259 section 8.3 says.
    func spells(_ wanted: UnsafeBufferPointer<UInt8>, at base: UnsafePointer<UInt8>, in bytes: [UInt8]) -> Bool {
        if self.isEscaped {
            return JSONText.string(in: bytes.span, self.start..<self.end, isEscaped: true).utf8.elementsEqual(wanted)
        }
        guard self.end - self.start == wanted.count else { return false }
        guard let address = wanted.baseAddress else { return true }
        return memcmp(base + self.start, address, wanted.count) == 0
    }
}
