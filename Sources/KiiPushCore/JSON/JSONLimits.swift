/// The size and the depth above which the parser refuses a document.
package struct JSONLimits: Sendable, Hashable {
    /// The number of arrays and objects inside one another. The scanner keeps one bit for each level in a `UInt64`.
    package let maximumDepth: Int
    /// The length of the document in bytes. Slices have 32-bit offsets.
    package let maximumBytes: Int

    /// Defaults: 64 levels and 4 MiB, the default limit of HTTP bodies. Clamped to 1...64 levels and 0...1 GiB.
    package init(maximumDepth: Int = 64, maximumBytes: Int = 4_194_304) {
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 30)
    }

    package static let `default` = JSONLimits()
}
