/// Which streams are connecting, and which wait until others have: of each target only so many connect at once.
///
/// While libcurl looks up a name it has a thread for each stream that asks, so ten thousand agents of one process that lose
/// their broker together would start ten thousand threads.
struct ConnectQueue {
    private struct Line {
        var connecting = 0
        var waiting: ArraySlice<ByteStream> = []
    }

    private let limit: Int
    private var lines: [StreamTarget: Line] = [:]

    /// - Parameter limit: how many may connect to one target at once; at least one may.
    init(limit: Int) { self.limit = max(1, limit) }

    /// - Returns: whether the stream is to connect now; otherwise its turn comes in ``leave(_:)``.
    mutating func enter(_ stream: ByteStream) -> Bool {
        guard self.lines[stream.target, default: Line()].connecting < self.limit else {
            self.lines[stream.target]?.waiting.append(stream)
            return false
        }
        self.lines[stream.target, default: Line()].connecting += 1
        return true
    }

    /// A stream that was to connect to `target` has, or never will.
    ///
    /// - Returns: the one that is to connect in its place.
    mutating func leave(_ target: StreamTarget) -> ByteStream? {
        while let next = self.lines[target]?.waiting.popFirst() {
            // Its owner may have left while it waited.
            if !next.isClosed { return next }
        }
        self.lines[target]?.connecting -= 1
        if self.lines[target]?.connecting == 0 { self.lines[target] = nil }
        return nil
    }
}
