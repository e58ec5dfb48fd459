/// How large and how deep a document may be before the parser refuses it.
package struct JSONLimits: Sendable, Hashable {
    /// How many arrays and objects may stand inside one another. The scanner keeps one bit a level in a `UInt64`.
    package let maximumDepth: Int
    /// The length of the document in bytes. Slices keep 32-bit offsets.
    package let maximumBytes: Int

    /// By default 64 levels, held to 1...64, and 4 MiB (the largest HTTP body that is taken), held to 0...1 GiB.
    package init(maximumDepth: Int = 64, maximumBytes: Int = 4_194_304) {
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 30)
    }

    package static let `default` = JSONLimits()
}
