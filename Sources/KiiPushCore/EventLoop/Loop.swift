/// The thread that the receiving side lives on: streams, timers, and the time. Agents use ``EventLoop``. A simulation
/// uses another one, whose time, network and order of events follow from a seed.
package protocol Loop: AnyObject {
    /// The start of this turn.
    var now: MonotonicInstant { get }
    /// The clocks of everything on this loop.
    var clocks: Clocks { get }
    /// Begins to connect; see ``EventLoop/openStream(_:sendTimeout:isInspected:delegate:)``.
    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream
    /// Runs `body` in the first turn that begins at or after `deadline`.
    @discardableResult
    func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID
    /// Cancels a timer; does nothing if it has fired.
    func cancel(_ timer: TimerID)
}

/// A two-way connection for bytes. Loop thread only.
///
/// The stream lives until either side closes it; until then the loop holds it, and it holds its delegate. Any method
/// may be called at any time, from any callback; on a closed stream they do nothing.
package protocol ByteStream: AnyObject {
    var isPaused: Bool { get }
    var unsentBytes: Int { get }
    /// The steps that the connection attempt completed; `nil` before its end, and for a stream that is not inspected.
    var report: ConnectionReport? { get }
    /// Queues `bytes`. The loop sends all bytes of a turn at its end, in one write if the peer takes them. A connecting
    /// stream buffers them. There is no limit; check ``unsentBytes``.
    func send(_ bytes: [UInt8])
    /// Stops the delivery of bytes at once; the peer notices when the kernel's buffers are full. A broken connection is
    /// still reported. An orderly close by the peer is reported after ``resumeReading()``, since earlier bytes may
    /// still be unread.
    func pauseReading()
    func resumeReading()
    /// Closes at once and drops unsent bytes. No delegate call follows.
    func close()
    /// Closes in good order: once all queued bytes are sent and the peer has closed too, or after the configured linger
    /// time. Received bytes are dropped. No delegate call follows.
    func closeAfterFlush()
}

/// The owner of a ``ByteStream``. The stream calls it on the loop's thread, never from inside a call into the stream.
package protocol ByteStreamDelegate: AnyObject {
    /// The connection is ready, TLS handshake and proxy included.
    func streamDidConnect(_ stream: any ByteStream)

    /// Bytes arrived. `bytes` is the loop's own buffer, valid during the call only.
    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer)

    /// The connection ended or could not be made; no call follows. A close by the peer has code `connectionLost`. All
    /// earlier bytes have been delivered. The call may come while reading is paused.
    func streamDidClose(_ stream: any ByteStream, error: TransportError)
}

/// Runs in every turn of the loop, between receiving and sending.
package protocol TurnDelegate: AnyObject {
    /// Whether this turn has received enough; the loop then reads streams again in the next turn. Checked after each
    /// piece that a stream delivers.
    var isSated: Bool { get }
    /// The loop's sleep at the end of a turn, before it checks its sockets again; zero for none.
    var pauseBeforeNextTurn: Duration { get }
    /// All bytes of this turn have been delivered: store the messages.
    func commit()
    /// ``commit()`` has returned. Bytes sent now leave at the end of this turn.
    func afterCommit()
    /// The loop is ending, and this is its last turn.
    func loopEnds()
    /// The last turn is over and every stream has ended; no call follows.
    func loopEnded()
}

extension TurnDelegate {
    package var isSated: Bool { false }
    package var pauseBeforeNextTurn: Duration { .zero }
    package func loopEnds() {}
    package func loopEnded() {}
}

/// The owner of a descriptor that the loop watches for it, such as another library's connection.
package protocol DescriptorOwner: AnyObject {
    /// The descriptor is ready or broken. Called on the loop's thread, between two turns.
    func descriptorReady()
}

package enum StreamTarget: Sendable, Hashable {
    /// TCP, through the configured proxy if there is one.
    case tcp(host: String, port: UInt16)
    /// TLS with the server's name and certificate verified, through the configured proxy if there is one.
    case tls(host: String, port: UInt16)
    /// A WebSocket over one of the two, with MQTT inside.
    case webSocket(host: String, port: UInt16, usesTLS: Bool)
    /// A Unix domain socket; never through a proxy.
    case unix(path: String)

    var isTLS: Bool {
        switch self {
        case .tls, .webSocket(_, _, usesTLS: true): true
        case .tcp, .webSocket, .unix: false
        }
    }

    /// The URL of the peer for libcurl. Its path is never sent.
    func url() throws(TransportError) -> String {
        switch self {
        case .tcp(let host, let port), .tls(let host, let port), .webSocket(let host, let port, _):
            "http\(self.isTLS ? "s" : "")://\(try StreamTarget.authority(host)):\(port)/"
        case .unix: "http://localhost/"
        }
    }

    // A character that ends the host part of a URL early would lead the connection to another host.
    private static func authority(_ host: String) throws(TransportError) -> String {
        let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !$0.isOne(of: "/?#@\\[]") }
        guard !host.isEmpty, isPlain else {
            throw TransportError(.invalidConfiguration, detail: "the stream's host is not a host name or address")
        }
        return host.contains(":") ? "[\(host)]" : host
    }
}
