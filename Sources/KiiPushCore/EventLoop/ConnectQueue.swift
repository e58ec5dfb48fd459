/// Which streams are connecting, and which wait until others have: of each target only so many connect at once.
///
/// While libcurl looks up a name it has a thread for each stream that asks, so ten thousand agents of one process that lose
/// their broker together would start ten thousand threads. (One whose time is up gives its place away, and leaves a lookup
/// that still goes on to its thread.)
struct ConnectQueue {
    /// How it ended that a stream was connecting.
    enum Ending {
        case connected
        /// It failed, or its owner has left.
        case over
        /// The target was not reached: its name is not known, it does not answer, or refuses. This is the error.
        case unreached(TransportError)
    }

    /// What follows from an ending.
    enum Next {
        case nothing
        /// The stream that is to connect in its place.
        case connect(SocketStream)
        /// Streams that are to fail with the same error.
        case fail([SocketStream], TransportError)
    }

    private struct Line {
        var connecting = 0
        /// How many have connected.
        var connected = 0
        var waiting = Fifo<SocketStream>()
    }

    private let limit: Int
    private var lines: [StreamTarget: Line] = [:]

    /// - Parameter limit: how many may connect to one target at once; at least one may.
    init(limit: Int) { self.limit = max(1, limit) }

    /// - Returns: whether the stream is to connect now; otherwise it waits for its turn.
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

    /// A stream that was connecting is not any more.
    mutating func leave(_ stream: SocketStream, _ ending: Ending) -> Next {
        guard var line = self.lines.removeValue(forKey: stream.target) else { return .nothing }
        defer { if line.connecting > 0 { self.lines[stream.target] = line } }
        if case .connected = ending { line.connected += 1 }
        if case .unreached(let error) = ending, stream.connectedBefore == line.connected {
            // They came while it tried, and none got through: each of them would wait in vain as well, and by turns the last
            // for many minutes. Their owners know when to try again, and where.
            line.connecting -= 1
            var failed: [SocketStream] = []
            while let waiting = line.waiting.popFirst() { failed.append(waiting) }
            return .fail(failed, error)
        }
        while let next = line.waiting.popFirst() {
            // Its owner may have left while it waited.
            guard !next.isClosed else { continue }
            next.connectedBefore = line.connected
            return .connect(next)
        }
        line.connecting -= 1
        return .nothing
    }
}
