/// An input, taken apart from its front into choices. Where it ends, every choice is the first one, so that an input
/// that is cut means nearly the same.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.rest = bytes[...]
    }

    var isEmpty: Bool { self.rest.isEmpty }

    mutating func byte() -> UInt8 { self.rest.popFirst() ?? 0 }

    mutating func bool() -> Bool { self.byte() & 1 == 1 }

    /// A number in the range, which holds no more than 65,536 of them.
    mutating func number(in range: ClosedRange<Int>) -> Int {
        let span = range.upperBound - range.lowerBound + 1
        let drawn = span <= 256 ? Int(self.byte()) : Int(self.byte()) << 8 | Int(self.byte())
        return range.lowerBound + drawn % span
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(self.rest.prefix(count))
        self.rest = self.rest.dropFirst(count)
        return taken
    }

    mutating func remainder() -> [UInt8] { self.bytes(self.rest.count) }
}
