/// Limits the streams that connect to one target at once; further streams wait.
///
/// libcurl resolves names on one thread for each stream. Ten thousand agents that lose their broker together would
/// otherwise start ten thousand threads.
struct ConnectQueue {
    enum Ending {
        case connected
        case over
        case unreached(TransportError)
    }

    enum Next {
        case nothing
        case connect(SocketStream)
        case fail([SocketStream], TransportError)
    }

    private struct Line {
        var connecting = 0
        var connected = 0
        var waiting = Fifo<SocketStream>()
    }

    private let limit: Int
    private var lines: [StreamTarget: Line] = [:]

    init(limit: Int) { self.limit = max(1, limit) }

    /// Returns `false` if the stream must wait.
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

    mutating func leave(_ stream: SocketStream, _ ending: Ending) -> Next {
        guard var line = self.lines.removeValue(forKey: stream.target) else { return .nothing }
        defer { if line.connecting > 0 { self.lines[stream.target] = line } }
        if case .connected = ending { line.connected += 1 }
        if case .unreached(let error) = ending, stream.connectedBefore == line.connected {
            // No stream has connected since this stream started, so the waiting streams would probably fail too, the
            // last after many minutes. All fail now instead.
            line.connecting -= 1
            var failed: [SocketStream] = []
            while let waiting = line.waiting.popFirst() { failed.append(waiting) }
            return .fail(failed, error)
        }
        while let next = line.waiting.popFirst() {
            // The owner may have closed a waiting stream.
            guard !next.isClosed else { continue }
            next.connectedBefore = line.connected
            return .connect(next)
        }
        line.connecting -= 1
        return .nothing
    }
}
