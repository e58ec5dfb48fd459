/// Limits how many streams connect to one target at once; further streams wait.
///
/// libcurl looks up names on one thread for each stream. Without a limit, ten thousand agents of one process that lose
/// their broker together would start ten thousand threads. (A stream that times out frees its place, although its
/// lookup thread may still run.)
struct ConnectQueue {
    enum Ending {
        case connected
        /// The stream failed, or its owner closed it.
        case over
        /// The target was not reached: name lookup failed, it does not answer, or it refuses.
        case unreached(TransportError)
    }

    /// The caller's next step after an ending.
    enum Next {
        case nothing
        /// Connect this stream in its place.
        case connect(SocketStream)
        /// Fail these streams with this error.
        case fail([SocketStream], TransportError)
    }

    private struct Line {
        var connecting = 0
        var connected = 0
        var waiting = Fifo<SocketStream>()
    }

    private let limit: Int
    private var lines: [StreamTarget: Line] = [:]

    /// - Parameter limit: the number of streams that connect to one target at once; values below 1 count as 1.
    init(limit: Int) { self.limit = max(1, limit) }

    /// - Returns: `true` if the stream connects now, `false` if it waits.
    mutating func enter(_ stream: SocketStream) -> Bool {
        var line = self.lines.removeValue(forKey: stream.target) ?? Line()
        defer { self.lines[stream.target] = line }
        guard line.connecting < self.limit else {
            line.waiting.append(stream)
            return false
        }
        line.connecting += 1
        stream.connectedBefore = line.connected
        return true
    }

    /// Removes a stream that has stopped connecting.
    mutating func leave(_ stream: SocketStream, _ ending: Ending) -> Next {
        guard var line = self.lines.removeValue(forKey: stream.target) else { return .nothing }
        defer { if line.connecting > 0 { self.lines[stream.target] = line } }
        if case .connected = ending { line.connected += 1 }
        if case .unreached(let error) = ending, stream.connectedBefore == line.connected {
            // No stream has connected since this one started, so each waiting stream would fail too, one after another,
            // the last after many minutes. Their owners decide when and where to retry.
            line.connecting -= 1
            var failed: [SocketStream] = []
            while let waiting = line.waiting.popFirst() { failed.append(waiting) }
            return .fail(failed, error)
        }
        while let next = line.waiting.popFirst() {
            // Its owner may have closed it while it waited.
            guard !next.isClosed else { continue }
            next.connectedBefore = line.connected
            return .connect(next)
        }
        line.connecting -= 1
        return .nothing
    }
}
