/// The scanner's error, small enough to return in registers. ``JSONError`` adds the pointer, which takes time to find.
struct JSONFault: Error {
    let code: JSONError.Code
    let byteOffset: Int

    init(_ code: JSONError.Code, at byteOffset: Int) {
        self.code = code
        self.byteOffset = byteOffset
    }

    func located(in bytes: [UInt8]) -> JSONError {
        let pointer = JSONPointer(leadingTo: self.byteOffset, in: bytes)
        return JSONError(code: self.code, byteOffset: self.byteOffset, pointer: pointer)
    }
}

/// Safety: `base` points to `end` readable bytes. They stay alive and unchanged while the scanner is in use, inside one
/// `withUnsafeBufferPointer`. The scanner compares the position with `end` before every load.
struct JSONScanner {
    let base: UnsafePointer<UInt8>
    let end: Int
    var position = 0

    init(base: UnsafePointer<UInt8>, count: Int) {
        self.base = base
        self.end = count
    }

    @inline(__always)
    var current: UInt8? { self.position < self.end ? self.base[self.position] : nil }

    @inline(__always)
    mutating func skipWhitespace() {
        while self.position < self.end {
            switch self.base[self.position] {
            case 0x20, 0x0A, 0x0D, 0x09: self.position += 1
            default: return
            }
        }
    }

    mutating func beginDocument() throws(JSONFault) {
        if self.end >= 3, self.base[0] == 0xEF, self.base[1] == 0xBB, self.base[2] == 0xBF {
            throw JSONFault(.byteOrderMark, at: 0)
        }
        self.skipWhitespace()
        guard self.position < self.end else { throw JSONFault(.empty, at: self.position) }
    }

    mutating func endDocument() throws(JSONFault) {
        self.skipWhitespace()
        guard self.position == self.end else { throw JSONFault(.trailingBytes, at: self.position) }
    }

    /// Skips one value. At most `levels` (64 or fewer) arrays and objects may nest.
    @inline(__always)
    mutating func skipValue(levels: Int) throws(JSONFault) {
        if self.current == UInt8(ascii: "\"") {
            _ = try self.skipString()
        } else {
            try self.skipNestedValue(levels: levels)
        }
    }

    /// Tracks the nesting without recursion: one bit for each level, 1 for an object.
    private mutating func skipNestedValue(levels: Int) throws(JSONFault) {
        var objects: UInt64 = 0
        var depth = 0
        repeat {
            guard let byte = self.current else { throw self.unexpected }
            switch byte {
            case UInt8(ascii: "\""):
                _ = try self.skipString()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try self.skipNumber()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < levels else { throw JSONFault(.tooDeep, at: self.position) }
                let isObject = byte == UInt8(ascii: "{")
                self.position += 1
                self.skipWhitespace()
                // In ASCII, `]` is `[` plus 2, and `}` is `{` plus 2.
                if self.current == byte + 2 {
                    self.position += 1
                } else {
                    depth += 1
                    objects = objects << 1 | (isObject ? 1 : 0)
                    if isObject { _ = try self.skipKey() }
                    continue
                }
            case UInt8(ascii: "t"): try self.skipLiteral("true")
            case UInt8(ascii: "f"): try self.skipLiteral("false")
            case UInt8(ascii: "n"): try self.skipLiteral("null")
            default: throw self.unexpected
            }
            try self.leaveFinishedContainers(depth: &depth, objects: &objects)
        } while depth > 0
    }

    /// Closes the containers that end after a value. Stops before the next value, or at depth 0.
    @inline(__always)
    private mutating func leaveFinishedContainers(depth: inout Int, objects: inout UInt64) throws(JSONFault) {
        while depth > 0 {
            let isObject = objects & 1 == 1
            self.skipWhitespace()
            if self.current == UInt8(ascii: ",") {
                self.position += 1
                self.skipWhitespace()
                if isObject { _ = try self.skipKey() }
                return
            }
            try self.skip(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
            depth -= 1
            objects >>= 1
        }
    }

    /// Skips a key and its colon. Returns the range between the key's quotes.
    @inline(__always)
    mutating func skipKey() throws(JSONFault) -> JSONStringRange {
        guard self.current == UInt8(ascii: "\"") else { throw self.unexpected }
        let key = try self.skipString()
        self.skipWhitespace()
        try self.skip(UInt8(ascii: ":"))
        self.skipWhitespace()
        return key
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(JSONFault) {
        for index in 0..<literal.utf8CodeUnitCount { try self.skip(literal.utf8Start[index]) }
    }

    @inline(__always)
    private mutating func skip(_ byte: UInt8) throws(JSONFault) {
        guard self.current == byte else { throw self.unexpected }
        self.position += 1
    }

    private var unexpected: JSONFault {
        JSONFault(self.position < self.end ? .unexpectedByte : .unexpectedEnd, at: self.position)
    }
}
