/// What the receiving side needs of the thread that it lives on: streams, timers, and the time. ``EventLoop`` is the
/// one that agents have. A simulation has another one, whose time, network and order of events follow from a seed.
package protocol Loop: AnyObject {
    /// When this turn began.
    var now: MonotonicInstant { get }
    /// The clocks that everything on this loop goes by.
    var clocks: Clocks { get }
    /// Begins to connect; see ``EventLoop/openStream(_:sendTimeout:isInspected:delegate:)``.
    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream
    /// Runs `body` in the first turn that begins at or after `deadline`.
    @discardableResult
    func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID
    /// Takes a timer back; one that has fired stays fired.
    func cancel(_ timer: TimerID)
}

/// A connection that carries bytes both ways. Loop thread only. It lives until it is closed from either side; the loop
/// holds it, and it holds its delegate, until then. Every call is allowed at any time, from any callback; on a closed
/// stream they do nothing.
package protocol ByteStream: AnyObject {
    /// Whether reading is paused.
    var isPaused: Bool { get }
    /// How many bytes wait to be sent.
    var unsentBytes: Int { get }
    /// How the connection came about, or how far; `nil` before, and of a stream that is not inspected.
    var report: ConnectionReport? { get }
    /// Queues `bytes`; everything queued in one turn leaves at its end in one write, if the peer takes it. Before the
    /// connection stands they are kept. There is no limit here: look at ``unsentBytes``.
    func send(_ bytes: [UInt8])
    /// Stops handing over bytes, from this moment on; the peer feels it once the kernel's buffers are full. A
    /// connection that breaks is still reported. A peer that has closed in good order is reported after
    /// ``resumeReading()``, since bytes from before may still have to be read.
    func pauseReading()
    /// Goes on where ``pauseReading()`` stopped.
    func resumeReading()
    /// Closes at once; what was not sent yet is dropped. No delegate call follows.
    func close()
    /// Closes in good order: when everything queued has left and the peer has closed too, or after the configured linger
    /// time. What still comes is dropped. No delegate call follows.
    func closeAfterFlush()
}

/// What a ``ByteStream`` tells its owner, always on the loop's thread and never from inside a call into the stream.
package protocol ByteStreamDelegate: AnyObject {
    /// The connection stands, TLS handshake and proxy included.
    func streamDidConnect(_ stream: any ByteStream)

    /// Bytes came. `bytes` is the loop's own buffer: valid during the call only.
    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer)

    /// The connection ended or never came about; nothing follows. A peer that closed has code `connectionLost`.
    /// Everything that arrived before has been handed over. It may come while reading is paused.
    func streamDidClose(_ stream: any ByteStream, error: TransportError)
}

/// What is run in every turn of the loop, between what came in and what goes out.
package protocol TurnDelegate: AnyObject {
    /// Whether this turn has brought enough: streams are read again in the next one. Asked after each piece that a stream
    /// hands out.
    var isSated: Bool { get }
    /// How long the loop sleeps before it looks at its sockets again; zero: not at all. Asked at the end of each turn.
    var pauseBeforeNextTurn: Duration { get }
    /// Every byte of this turn has been handed out: store what it brought.
    func commit()
    /// ``commit()`` has returned. What is sent now leaves at the end of this turn.
    func afterCommit()
    /// The loop ends: what comes now is its last turn.
    func loopEnds()
    /// The last turn is over, and every stream has ended: nothing follows.
    func loopEnded()
}

extension TurnDelegate {
    package var isSated: Bool { false }
    package var pauseBeforeNextTurn: Duration { .zero }
    package func loopEnds() {}
    package func loopEnded() {}
}

/// Who has a descriptor of its own watched by the loop: the connection of a library that has its own way with sockets.
package protocol DescriptorOwner: AnyObject {
    /// The descriptor is ready, or broken. On the loop's thread, between two turns.
    func descriptorReady()
}

/// Where a byte stream leads.
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
