package struct Identifiers: Sendable {
    private var generator: any RandomNumberGenerator & Sendable

    package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// The ID of a user or group, such as `727f20b00022-bf19-5e11-c96a-0faa3ff1`. A thing's ID has `th.`
    /// before such an ID.
    mutating func principal() -> String { self.grouped([12, 4, 4, 4, 8]) }

    /// 25 lower-case letters and digits, as in captured traffic of Kii's C SDK ebisu and in samples of Kii's thing-if
    /// API.
    mutating func installation() -> String { self.text(25, of: "0123456789abcdefghijklmnopqrstuvwxyz") }

    mutating func unique() -> String { self.grouped([8, 4, 4, 4, 12]) }

    /// A token, key or password of `count` letters and digits. 22 or more cannot be guessed.
    mutating func secret(_ count: Int) -> String {
        self.text(count, of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    }

    mutating func hex(_ count: Int) -> String { self.text(count, of: "0123456789abcdef") }

    private mutating func text(_ count: Int, of alphabet: String) -> String {
        let alphabet = Array(alphabet.utf8)
        let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &self.generator)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func grouped(_ lengths: [Int]) -> String { lengths.map { self.hex($0) }.joined(separator: "-") }
}
