import Glibc

extension UInt8 {
    func isLetterOrDigit(or others: StaticString = "") -> Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: self.isOne(of: others)
        }
    }

    /// `StaticString` costs far fewer instructions for each byte than `String`.
    func isOne(of bytes: StaticString) -> Bool { bytes.withUTF8Buffer { $0.contains(self) } }

    /// One of `A-Z a-z 0-9 - _ .`, which Kii allows in login names, vendor thing IDs and object IDs.
    var isKiiNameByte: Bool { self.isLetterOrDigit(or: "-_.") }
}

extension String {
    /// Whether both texts have the same UTF-8, as MQTT and Kii compare. `==` also equates different encodings of one
    /// character.
    package func hasBytes(of other: String) -> Bool {
        other.utf8.withContiguousStorageIfAvailable { self.hasBytes(UnsafeRawBufferPointer($0)) }
            ?? self.utf8.elementsEqual(other.utf8)
    }

    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self.utf8.count == bytes.count else { return false }
        let isSame = self.utf8.withContiguousStorageIfAvailable { own in
            guard let first = own.baseAddress, let second = bytes.baseAddress else { return true }
            return memcmp(first, second, bytes.count) == 0
        }
        return isSame ?? self.utf8.elementsEqual(bytes)
    }

    /// A hash (FNV-1a) that every process computes alike, unlike Swift's own. It detects accidents, not attacks.
    package var stableHash: UInt64 {
        self.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Percent-encodes every UTF-8 byte except letters, digits and the bytes in `plain`.
    func percentEncoded(but plain: StaticString) -> String {
        var encoded = ""
        for byte in self.utf8 {
            if byte.isLetterOrDigit(or: plain) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}

/// Searches by bytes. The standard library's searches would add 1.3 MB to a program, because they link its regular
/// expressions. An empty `word` is never found.
extension StringProtocol {
    package func contains(bytesOf word: String) -> Bool { self.firstRange(bytesOf: word) != nil }

    package func firstRange(bytesOf word: String) -> Range<Index>? {
        self.utf8.indices.lazy.compactMap { self.range(of: word, at: $0) }.first
    }

    package func lastRange(bytesOf word: String) -> Range<Index>? {
        self.utf8.indices.reversed().lazy.compactMap { self.range(of: word, at: $0) }.first
    }

    private func range(of word: String, at start: Index) -> Range<Index>? {
        guard self.utf8[start] == word.utf8.first, self.utf8[start...].starts(with: word.utf8) else { return nil }
        return start..<self.utf8.index(start, offsetBy: word.utf8.count)
    }

    package func replacing(bytesOf word: String, with other: String) -> String {
        var replaced = ""
        var rest = self[...]
        while let range = rest.firstRange(bytesOf: word) {
            replaced += rest[..<range.lowerBound] + other
            rest = rest[range.upperBound...]
        }
        return replaced + rest
    }
}
