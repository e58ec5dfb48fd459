package struct JSONLimits: Sendable, Hashable {
    /// The limit of nested arrays and objects. The scanner keeps one bit for each level in a `UInt64`.
    package let maximumDepth: Int
    /// The limit of the document in bytes. A ``JSONSlice`` has 32-bit offsets.
    package let maximumBytes: Int

    /// 4 MiB is also the default limit of HTTP bodies.
    package init(maximumDepth: Int = 64, maximumBytes: Int = 4_194_304) {
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 30)
    }

    package static let `default` = JSONLimits()
}
