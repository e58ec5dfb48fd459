/// The alphabets of Kii's names.
enum Names {
    /// Whether `text` is made of ASCII letters, digits and `extra`, and is so long.
    static func isLegal(_ text: String, _ length: ClosedRange<Int>, extra: String) -> Bool {
        length.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: extra.utf8.contains(byte)
                }
            }
    }
}
