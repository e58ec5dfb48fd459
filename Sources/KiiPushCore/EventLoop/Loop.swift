/// The thread that receives messages, with its streams, timers and clocks. Agents use ``EventLoop``. A simulation uses
/// another type, whose time and network follow from a seed.
package protocol Loop: AnyObject {
    var now: MonotonicInstant { get }
    var clocks: Clocks { get }
    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream
    @discardableResult
    func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID
    func cancel(_ timer: TimerID)
}

/// A two-way byte connection, used only on the loop's thread.
///
/// The loop holds an open stream, and the stream holds its delegate. Any callback may call any method. On a closed
/// stream the methods do nothing.
package protocol ByteStream: AnyObject {
    var isPaused: Bool { get }
    var unsentBytes: Int { get }
    /// The completed steps of the connection attempt; `nil` before its end, and for a stream that is not inspected.
    var report: ConnectionReport? { get }
    /// Queues `bytes` until the end of the turn, or until the stream is connected. The queue has no limit; check
    /// ``unsentBytes``.
    func send(_ bytes: [UInt8])
    /// Stops delivery at once. The peer notices when the kernel's buffers are full. A broken connection is still
    /// reported. An orderly close by the peer is reported after ``resumeReading()``, since unread bytes may precede it.
    func pauseReading()
    func resumeReading()
    /// Closes at once, and drops unsent bytes. The delegate is not called.
    func close()
    /// Closes when all queued bytes are sent and the peer has closed too, or after the configured linger time. Drops
    /// received bytes. While connecting, may close at once. The delegate is not called.
    func closeAfterFlush()
}

/// The owner of a ``ByteStream``. The stream calls its delegate on the loop's thread, never from inside a call to the
/// stream.
package protocol ByteStreamDelegate: AnyObject {
    /// The connection is ready, including TLS and the proxy.
    func streamDidConnect(_ stream: any ByteStream)

    /// Bytes arrived. `bytes` is the loop's own buffer, valid only during the call.
    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer)

    /// The connection ended or failed; no call follows. An orderly close by the peer has code `connectionLost`. All
    /// earlier bytes have been delivered, unless reading was paused or the loop was shut down.
    func streamDidClose(_ stream: any ByteStream, error: TransportError)
}

/// Runs in every turn of the loop, between receiving and sending.
package protocol TurnDelegate: AnyObject {
    /// Whether this turn has received enough. The loop checks this between reads. If `true`, the loop leaves unread
    /// streams for the next turn.
    var isSaturated: Bool { get }
    /// The loop's pause at the end of a turn, before it checks its sockets again; zero for none.
    var pauseBeforeNextTurn: Duration { get }
    /// All bytes of this turn have been delivered. The delegate stores the messages.
    func commit()
    /// Follows ``commit()``. Bytes sent now leave at the end of this turn.
    func afterCommit()
    func loopEnds()
    /// The last turn is over, and every stream has ended. No call follows.
    func loopEnded()
}

extension TurnDelegate {
    package var isSaturated: Bool { false }
    package var pauseBeforeNextTurn: Duration { .zero }
    package func loopEnds() {}
    package func loopEnded() {}
}

/// The owner of a foreign descriptor that the loop watches, such as another library's connection.
package protocol DescriptorOwner: AnyObject {
    func descriptorReady()
}

package enum StreamTarget: Sendable, Hashable {
    /// TCP, through the configured proxy if there is one.
    case tcp(host: String, port: UInt16)
    /// TLS, with the verification that ``TLSConfiguration`` sets, through the configured proxy if there is one.
    case tls(host: String, port: UInt16)
    /// MQTT in a WebSocket, over TCP or TLS.
    case webSocket(host: String, port: UInt16, usesTLS: Bool)
    /// A Unix domain socket; never through a proxy.
    case unix(path: String)

    var isTLS: Bool {
        switch self {
        case .tls, .webSocket(_, _, usesTLS: true): true
        case .tcp, .webSocket, .unix: false
        }
    }

    /// The URL's path is never sent.
    func url() throws(TransportError) -> String {
        switch self {
        case .tcp(let host, let port), .tls(let host, let port), .webSocket(let host, let port, _):
            "http\(self.isTLS ? "s" : "")://\(try StreamTarget.authority(host)):\(port)/"
        case .unix: "http://localhost/"
        }
    }

    // A character such as `/` could end the host part of the URL early, and lead to another host.
    private static func authority(_ host: String) throws(TransportError) -> String {
        let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !$0.isOne(of: "/?#@\\[]") }
        guard !host.isEmpty, isPlain else {
            throw TransportError(.invalidConfiguration, detail: "the stream's host is not a host name or address")
        }
        return host.contains(":") ? "[\(host)]" : host
    }
}
