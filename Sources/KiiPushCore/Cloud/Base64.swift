extension Array where Element == UInt8 {
    /// The bytes in base64 with padding (RFC 4648 section 4).
    var base64: String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity((self.count + 2) / 3 * 4)
        for start in stride(from: 0, to: self.count, by: 3) {
            let bytes = self[start..<Swift.min(start + 3, self.count)]
            let group = (0..<3).reduce(UInt32(0)) { $0 << 8 | UInt32($1 < bytes.count ? bytes[start + $1] : 0) }
            for position in 0..<4 {
                let isPadding = position > bytes.count
                encoded.append(
                    isPadding ? UInt8(ascii: "=") : alphabet[Int(group >> UInt32(18 - 6 * position) & 0x3F)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
