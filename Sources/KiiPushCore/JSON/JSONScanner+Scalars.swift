struct JSONStringRange {
    var start: Int
    var end: Int
    var isEscaped: Bool
}

extension JSONScanner {
    /// Skips a string, whose opening quote is at the current position.
    @inline(__always)
    mutating func skipString() throws(JSONFault) -> JSONStringRange {
        let start = self.position + 1
        var position = start
        // Checks eight bytes a step. Most strings are ASCII, and end in this loop.
        while position + 8 <= self.end {
            let special = specialBytes(in: UnsafeRawPointer(self.base + position).loadUnaligned(as: UInt64.self))
            if special == 0 {
                position += 8
                continue
            }
            position += special.trailingZeroBitCount >> 3
            if self.base[position] == UInt8(ascii: "\"") {
                self.position = position + 1
                return JSONStringRange(start: start, end: position, isEscaped: false)
            }
            break
        }
        self.position = position
        return try self.skipRestOfString(start: start)
    }

    /// The slow path: escapes, characters beyond ASCII, and the document's last bytes.
    private mutating func skipRestOfString(start: Int) throws(JSONFault) -> JSONStringRange {
        var isEscaped = false
        while let byte = self.current {
            switch byte {
            case UInt8(ascii: "\""):
                self.position += 1
                return JSONStringRange(start: start, end: self.position - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try self.skipEscape()
            case 0x00..<0x20:
                throw JSONFault(.controlCharacter, at: self.position)
            case 0x20..<0x80:
                self.position += 1
            default:
                try self.skipMultibyteCharacter(lead: byte)
            }
        }
        throw JSONFault(.unexpectedEnd, at: self.end)
    }

    /// RFC 8259 section 7. The escapes of a high and a low surrogate must come as a pair.
    private mutating func skipEscape() throws(JSONFault) {
        let start = self.position
        self.position += 1
        guard let letter = self.current else { throw JSONFault(.unexpectedEnd, at: self.position) }
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self.position += 1
        case UInt8(ascii: "u"):
            let unit = try self.skipHexadecimalUnit(escape: start)
            switch unit {
            case 0xDC00...0xDFFF:
                throw JSONFault(.loneSurrogate, at: start)
            case 0xD800...0xDBFF:
                guard self.position + 1 < self.end else {
                    throw self.position == self.end
                        ? JSONFault(.unexpectedEnd, at: self.end) : JSONFault(.loneSurrogate, at: start)
                }
                guard self.base[self.position] == UInt8(ascii: "\\"),
                    self.base[self.position + 1] == UInt8(ascii: "u")
                else { throw JSONFault(.loneSurrogate, at: start) }
                let second = self.position
                self.position += 1
                guard case 0xDC00...0xDFFF = try self.skipHexadecimalUnit(escape: second) else {
                    throw JSONFault(.loneSurrogate, at: start)
                }
            default: break
            }
        default:
            throw JSONFault(.invalidEscape, at: start)
        }
    }

    private mutating func skipHexadecimalUnit(escape: Int) throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for offset in 1...4 {
            guard self.position + offset < self.end else { throw JSONFault(.unexpectedEnd, at: self.end) }
            guard let digit = hexadecimalValue(self.base[self.position + offset]) else {
                throw JSONFault(.invalidEscape, at: escape)
            }
            unit = unit << 4 | UInt32(digit)
        }
        self.position += 5
        return unit
    }

    /// RFC 3629 section 4: no overlong forms, no surrogates, nothing above U+10FFFF.
    private mutating func skipMultibyteCharacter(lead: UInt8) throws(JSONFault) {
        let length: Int
        let second: ClosedRange<UInt8>
        switch lead {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONFault(.invalidUTF8, at: self.position)
        }
        guard self.position + length <= self.end, second.contains(self.base[self.position + 1]) else {
            throw JSONFault(.invalidUTF8, at: self.position)
        }
        for offset in 2..<max(length, 2) where self.base[self.position + offset] & 0xC0 != 0x80 {
            throw JSONFault(.invalidUTF8, at: self.position)
        }
        self.position += length
    }

    /// RFC 8259 section 6: an optional minus, an integer without leading zeros, a fraction, an exponent.
    @inline(__always)
    mutating func skipNumber() throws(JSONFault) {
        let start = self.position
        if self.base[self.position] == UInt8(ascii: "-") { self.position += 1 }
        if self.current == UInt8(ascii: "0") {
            self.position += 1
            if let byte = self.current, isDigit(byte) { throw JSONFault(.invalidNumber, at: start) }
        } else {
            try self.skipDigits(of: start)
        }
        if self.current == UInt8(ascii: ".") {
            self.position += 1
            try self.skipDigits(of: start)
        }
        if let byte = self.current, byte | 0x20 == UInt8(ascii: "e") {
            self.position += 1
            if let sign = self.current, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { self.position += 1 }
            try self.skipDigits(of: start)
        }
    }

    @inline(__always)
    private mutating func skipDigits(of number: Int) throws(JSONFault) {
        let start = self.position
        while self.position < self.end, isDigit(self.base[self.position]) { self.position += 1 }
        guard self.position > start else {
            throw self.position == self.end
                ? JSONFault(.unexpectedEnd, at: self.end) : JSONFault(.invalidNumber, at: number)
        }
    }
}

/// Sets the high bit of each special byte: a quote, a backslash, a control character or a byte beyond ASCII. The first
/// mark in memory order is exact; later marks may be false.
@inline(__always)
private func specialBytes(in loaded: UInt64) -> UInt64 {
    let word = UInt64(littleEndian: loaded)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5C)
    let found =
        ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word) | word
    return found & (ones &* 0x80)
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

@inline(__always)
func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
