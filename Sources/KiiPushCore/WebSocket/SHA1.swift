/// Only for the opening handshake, whose security does not depend on SHA-1.
///
/// - Source: FIPS 180-4, sections 4.1.1, 4.2.1, 5 and 6.1.2.
package enum SHA1 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        // FIPS 180-4 section 5.1.1: the padding, then the length in bits.
        var blocks = bytes + [0x80]
        blocks += [UInt8](repeating: 0, count: (120 - blocks.count % 64) % 64)
        blocks += Self.bytes(of: UInt64(bytes.count) * 8)
        for start in stride(from: 0, to: blocks.count, by: 64) { self.add(blocks[start..<start + 64], to: &state) }
        return state.flatMap(Self.bytes)
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var schedule: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for t in 16..<80 {
            schedule.append(self.rotate(schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16], 1))
        }
        var working = state
        for t in 0..<80 {
            let (b, c, d) = (working[1], working[2], working[3])
            let (mixed, constant): (UInt32, UInt32) =
                switch t {
                case ..<20: (b & c ^ ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c ^ b & d ^ c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let first = self.rotate(working[0], 5) &+ mixed &+ working[4] &+ constant &+ schedule[t]
            working = [first, working[0], self.rotate(b, 30), c, d]
        }
        for (index, value) in working.enumerated() { state[index] &+= value }
    }

    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
