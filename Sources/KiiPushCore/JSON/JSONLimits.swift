/// How large and how deep a document may be before the parser refuses it.
package struct JSONLimits: Sendable, Hashable {
    /// How many arrays and objects may stand inside one another: 1 to 64. A value beyond that is held to the nearer end.
    package var maximumDepth: Int {
        didSet { self.maximumDepth = Self.depth(self.maximumDepth) }
    }
    /// The length of the document in bytes: 0 to 1 GiB. A value beyond that is held to the nearer end.
    package var maximumBytes: Int {
        didSet { self.maximumBytes = Self.bytes(self.maximumBytes) }
    }

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumDepth: Levels of nesting, 64 by default; held to 1...64.
    ///   - maximumBytes: Bytes of the document, 4 MiB by default (the largest HTTP body that is taken); held to
    ///     0...1 GiB.
    package init(maximumDepth: Int = 64, maximumBytes: Int = 4_194_304) {
        self.maximumDepth = Self.depth(maximumDepth)
        self.maximumBytes = Self.bytes(maximumBytes)
    }

    /// 64 levels and 4 MiB.
    package static let `default` = JSONLimits()

    /// The scanner keeps one bit a level in a `UInt64`.
    private static func depth(_ levels: Int) -> Int { min(max(levels, 1), 64) }

    /// Slices keep 32-bit offsets.
    private static func bytes(_ count: Int) -> Int { min(max(count, 0), 1 << 30) }
}
