/// An input, read from its front as a sequence of choices. After its end every choice is the first one, so a truncated
/// input has almost the same meaning.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.rest = bytes[...]
    }

    var isEmpty: Bool { self.rest.isEmpty }

    mutating func byte() -> UInt8 { self.rest.popFirst() ?? 0 }

    mutating func bool() -> Bool { self.byte() & 1 == 1 }

    /// A number in the range, which may span at most 65,536 numbers.
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

    /// A stream in pieces with lengths from the seed: 15 of at most `largest` bytes, and the rest.
    static func pieces(of stream: [UInt8], upTo largest: Int, _ seed: UInt8) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var (rest, state) = (stream[...], UInt64(seed))
        while !rest.isEmpty, pieces.count < 15 {
            // Knuth's generator. Any numbers do that depend only on the input.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let piece = rest.prefix(1 + Int(state >> 33) % largest)
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        if !rest.isEmpty { pieces.append(rest) }
        return pieces
    }
}
