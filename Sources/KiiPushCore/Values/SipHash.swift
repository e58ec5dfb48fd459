/// SipHash-2-4 with a 128-bit result: a digest under a secret key. Without the key, nobody can construct two texts with
/// the same digest.
///
/// - Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF"; the 128-bit form is that of the reference code
///   (github.com/veorq/SipHash)
package struct SipHash: Sendable {
    package struct Key: Sendable {
        let low: UInt64
        let high: UInt64

        package static func random() -> Key { Key(low: .random(in: .min ... .max), high: .random(in: .min ... .max)) }

        package init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }
    }

    package struct Digest: Sendable, Hashable {
        /// The first eight bytes of the reference code's result, as a little-endian number.
        package let low: UInt64
        package let high: UInt64
    }

    private var v0, v1, v2, v3: UInt64
    private var tail: UInt64 = 0
    private var count = 0

    package init(key: Key) {
        self.v0 = key.low ^ 0x736f_6d65_7073_6575
        self.v1 = key.high ^ 0x646f_7261_6e64_6f6d ^ 0xee
        self.v2 = key.low ^ 0x6c79_6765_6e65_7261
        self.v3 = key.high ^ 0x7465_6462_7974_6573
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let shift = UInt64(self.count & 7) * 8
        var offset = 0
        while bytes.count - offset >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            self.compress(self.tail | word << shift)
            self.tail = word >> (64 - shift)
            offset += 8
        }
        self.count += offset
        for byte in bytes[offset...] {
            self.tail |= UInt64(byte) << (UInt64(self.count & 7) * 8)
            self.count += 1
            guard self.count & 7 == 0 else { continue }
            self.compress(self.tail)
            self.tail = 0
        }
    }

    package consuming func finish() -> Digest {
        self.compress(self.tail | UInt64(truncatingIfNeeded: self.count) << 56)
        self.v2 ^= 0xee
        for _ in 0..<4 { self.round() }
        let low = self.v0 ^ self.v1 ^ self.v2 ^ self.v3
        self.v1 ^= 0xdd
        for _ in 0..<4 { self.round() }
        return Digest(low: low, high: self.v0 ^ self.v1 ^ self.v2 ^ self.v3)
    }

    private mutating func compress(_ word: UInt64) {
        self.v3 ^= word
        self.round()
        self.round()
        self.v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        self.v0 &+= self.v1
        self.v1 = self.v1 &<< 13 | self.v1 &>> 51
        self.v1 ^= self.v0
        self.v0 = self.v0 &<< 32 | self.v0 &>> 32
        self.v2 &+= self.v3
        self.v3 = self.v3 &<< 16 | self.v3 &>> 48
        self.v3 ^= self.v2
        self.v0 &+= self.v3
        self.v3 = self.v3 &<< 21 | self.v3 &>> 43
        self.v3 ^= self.v0
        self.v2 &+= self.v1
        self.v1 = self.v1 &<< 17 | self.v1 &>> 47
        self.v1 ^= self.v2
        self.v2 = self.v2 &<< 32 | self.v2 &>> 32
    }
}
