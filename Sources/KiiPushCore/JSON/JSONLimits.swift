/// How large and how deep a document may be before the parser refuses it.
public struct JSONLimits: Sendable, Hashable {
    /// How many arrays and objects may stand inside one another. At most 64, whatever is asked for.
    public var maximumDepth: Int
    /// The length of the document in bytes. At most 1 GiB, whatever is asked for.
    public var maximumBytes: Int

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumDepth: Levels of nesting, 64 by default; held to 1...64.
    ///   - maximumBytes: Bytes of the document, 4 MiB by default (the largest HTTP body that is taken); held to
    ///     0...1 GiB.
    public init(maximumDepth: Int = 64, maximumBytes: Int = 4_194_304) {
        // The scanner keeps one bit a level in a UInt64, and slices keep 32-bit offsets.
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 30)
    }

    /// 64 levels and 4 MiB.
    public static let `default` = JSONLimits()
}
