import CCurl
import Glibc

/// A ``ByteStream`` over a socket that libcurl has connected.
package final class SocketStream: ByteStream {
    private enum State {
        /// It connects, or waits for its turn to; bytes to send are kept. Exits: `open`, `closed`.
        case connecting
        /// Exits: `lingering`, `closed`.
        case open
        /// The owner has left; what it sent is still leaving. Exit: `closed`.
        case lingering
        case closed
    }

    private var state = State.connecting
    private var delegate: (any ByteStreamDelegate)?
    private weak let streams: StreamSet?
    private var connection: (easy: CurlEasy, group: StreamGroup, descriptor: Int32)?
    private var outgoing = SendBuffer()
    private var wantsToWrite = false
    private var interest: Epoll.Interest?
    private var peerHasClosed = false
    private var sendError: TransportError?
    // What the kernel says broke the connection. It says it once, and libcurl would not pass it on.
    private var breakage: TransportError?
    // Whether libcurl may hold bytes that the socket no longer shows: a TLS layer does.
    private let isBuffered: Bool
    private let sendTimeout: Duration?
    let target: StreamTarget
    let isInspected: Bool
    /// Whether it has its turn among those that connect, and has not connected yet.
    var isConnecting = false
    /// How many had connected to its target when its turn came.
    var connectedBefore = 0
    var isQueuedForFlush = false
    var isQueuedForDrain = false

    package private(set) var isPaused = false
    /// Whether the stream is closed, by either side.
    package var isClosed: Bool { self.state == .closed }
    package private(set) var report: ConnectionReport?
    package var unsentBytes: Int { self.outgoing.count }

    init(
        _ target: StreamTarget, delegate: any ByteStreamDelegate, streams: StreamSet, isBuffered: Bool,
        sendTimeout: Duration?, isInspected: Bool
    ) {
        (self.target, self.sendTimeout, self.isInspected) = (target, sendTimeout, isInspected)
        (self.delegate, self.streams, self.isBuffered) = (delegate, streams, isBuffered)
    }

    package func send(_ bytes: [UInt8]) {
        guard self.state == .connecting || self.state == .open, !bytes.isEmpty, self.sendError == nil else { return }
        self.outgoing.append(bytes)
        if self.state == .open, !self.wantsToWrite { self.streams?.queueFlush(self) }
    }

    package func pauseReading() {
        guard self.state == .connecting || self.state == .open, !self.isPaused else { return }
        self.isPaused = true
        self.updateInterest()
    }

    package func resumeReading() {
        guard self.isPaused else { return }
        self.isPaused = false
        guard self.state == .open else { return }
        self.updateInterest()
        self.streams?.queueDrain(self)
    }

    package func close() {
        if self.state != .closed { self.tearDown() }
    }

    package func closeAfterFlush() {
        switch self.state {
        case .closed, .lingering: return
        case .connecting where self.outgoing.isEmpty: self.tearDown()
        case .connecting, .open:
            self.delegate = nil
            self.isPaused = false
            if self.state == .open {
                self.state = .lingering
                self.updateInterest()
                self.streams?.queueDrain(self)
                self.streams?.queueFlush(self)
            }
            self.streams?.limitLinger(self)
        }
    }
}

// MARK: - Called by the set of streams

extension SocketStream {
    func start(_ easy: CurlEasy, in group: StreamGroup) throws(TransportError) {
        // Safe to escape: the set of streams keeps this object until `tearDown` has removed the handle.
        try easy.setUnowned(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        try group.add(easy)
        self.connection = (easy, group, -1)
    }

    /// libcurl has connected, or failed to.
    func settled(_ code: CURLcode) {
        guard self.state == .connecting, let (easy, group, _) = self.connection else { return }
        if self.isInspected { self.report = ConnectionReport(easy) }
        var descriptor: curl_socket_t = -1
        guard code == CURLE_OK, ccurl_easy_get_socket(easy.raw, &descriptor) == CURLE_OK, descriptor >= 0 else {
            let error = self.connectError(easy, code == CURLE_OK ? CURLE_COULDNT_CONNECT : code)
            switch error.code {
            case .timedOut, .nameNotResolved, .connectionRefused: self.streams?.connectEnded(self, .unreached(error))
            default: break
            }
            return self.fail(error)
        }
        self.streams?.connectEnded(self, .connected)
        self.connection = (easy, group, descriptor)
        // Reads are cut to this size, CURLOPT_BUFFERSIZE(3); before, it would be memory that is not used. It is a request,
        // and a libcurl that does not grant it reads in smaller pieces.
        _ = ccurl_easy_set_long(easy.raw, CURLOPT_BUFFERSIZE, StreamSet.receiveBytes)
        if let sendTimeout = self.sendTimeout {
            var milliseconds = UInt32(clamping: sendTimeout.wholeMillisecondsRoundedUp)
            // Refused by sockets that are not TCP, which have no use for it.
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, 4)
        }
        self.state = self.delegate == nil ? .lingering : .open
        self.updateInterest()
        if !self.outgoing.isEmpty { self.streams?.queueFlush(self) }
        // The TLS layer may have read the peer's first bytes along with the end of its handshake.
        if self.isBuffered { self.streams?.queueDrain(self) }
        self.delegate?.streamDidConnect(self)
    }

    func socketReady(_ events: Epoll.Interest) {
        if events & Epoll.writable != 0 {
            self.wantsToWrite = false
            self.streams?.queueFlush(self)
        }
        if events & Epoll.broken != 0, self.breakage == nil { self.breakage = self.kernelError() }
        if self.isPaused {
            if events & Epoll.broken != 0 {
                self.fail(TransportError(.connectionLost, detail: "the connection was closed"))
            } else if events & Epoll.halfClosed != 0 {
                self.peerHasClosed = true
                self.updateInterest()
            }
        } else if events & (Epoll.readable | Epoll.broken | Epoll.halfClosed) != 0 {
            self.streams?.queueDrain(self)
        }
    }

    /// Hands over what has come, up to about `limit` bytes, or until `isSated`. Returns whether there may be more.
    func drain(into buffer: UnsafeMutableRawBufferPointer, limit: Int, until isSated: () -> Bool) -> Bool {
        var taken = 0
        while self.state == .open || self.state == .lingering, !self.isPaused {
            let (count, stop) = self.fill(buffer)
            taken += count
            if count > 0 {
                self.delegate?.stream(self, didReceive: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            switch stop {
            case .full where taken < limit && !isSated(): continue
            case .full: return true
            case .wouldBlock:
                if let error = self.sendError { self.fail(error) }
                return false
            case .ended(let error):
                self.fail(error)
                return false
            }
        }
        return false
    }

    /// Writes what is queued as far as the peer takes it.
    func flush() {
        guard self.state == .open || self.state == .lingering, let easy = self.connection?.easy else { return }
        do {
            let isDone = try self.outgoing.drain { bytes throws(TransportError) in
                var sent = 0
                let code = curl_easy_send(easy.raw, bytes.baseAddress, bytes.count, &sent)
                if code == CURLE_AGAIN { return nil }
                try easy.check(code)
                return sent
            }
            self.wantsToWrite = !isDone
            self.updateInterest()
            // A close with bytes unread would be a reset, which overtakes what was just written. So only this side is
            // closed, until the peer closes the other. In TLS that is the peer's move alone: an MQTT server makes it
            // on DISCONNECT (MQTT 3.1.1 section 3.14.4).
            if isDone, self.state == .lingering, !self.isBuffered, let descriptor = self.connection?.descriptor {
                shutdown(descriptor, Int32(SHUT_WR))
            }
        } catch {
            self.sendFailed(error)
        }
    }

    /// Ends the stream and tells its owner why; what the kernel said about it goes before what else is known, but for what
    /// the server gave as its reason.
    func fail(_ error: TransportError) {
        guard self.state != .closed else { return }
        let delegate = self.delegate
        self.tearDown()
        let isReason = error.code == .clientCertificateRequired
        delegate?.streamDidClose(self, error: isReason ? error : self.breakage ?? error)
    }
}

// MARK: - Inside

extension SocketStream {
    private enum Stop {
        case full, wouldBlock
        case ended(TransportError)
    }

    /// Reads until `buffer` is full or the peer has no more for now.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> (count: Int, stop: Stop) {
        guard let easy = self.connection?.easy, let start = buffer.baseAddress else { return (0, .wouldBlock) }
        var filled = 0
        while filled < buffer.count {
            var count = 0
            let code = curl_easy_recv(easy.raw, start + filled, buffer.count - filled, &count)
            if code == CURLE_AGAIN { return (filled, .wouldBlock) }
            guard code == CURLE_OK else { return (filled, .ended(easy.error(code))) }
            guard count > 0 else {
                return (filled, .ended(TransportError(.connectionLost, detail: "the peer closed the connection")))
            }
            filled += count
            // A plain socket that gave less than was asked for is empty, and epoll will say when it is not. A TLS layer
            // gives a record at a time and may hold the next, which epoll cannot see: it is asked until it has none.
            if !self.isBuffered, filled < buffer.count { return (filled, .wouldBlock) }
        }
        return (filled, .full)
    }

    // libcurl speaks of the URL, which for a Unix socket is made up.
    private func connectError(_ easy: CurlEasy, _ code: CURLcode) -> TransportError {
        var error = easy.error(code)
        if case .unix(let path) = self.target, error.code == .connectionRefused {
            error.detail = "nobody accepts connections on the socket \(path)"
        }
        return error
    }

    // What the peer said before it stopped listening is still to be read: a broker's reason, say.
    private func sendFailed(_ error: TransportError) {
        self.outgoing.removeAll()
        self.wantsToWrite = false
        self.sendError = error
        if self.isPaused || self.state == .lingering {
            self.fail(error)
        } else {
            self.streams?.queueDrain(self)
        }
    }

    private func updateInterest() {
        guard let descriptor = self.connection?.descriptor, descriptor >= 0, self.state != .closed else { return }
        var interest: Epoll.Interest = self.wantsToWrite ? Epoll.writable : 0
        if !self.isPaused {
            interest |= Epoll.readable
        } else if !self.peerHasClosed {
            interest |= Epoll.halfClosed
        }
        guard interest != self.interest else { return }
        self.interest = interest
        do {
            try self.streams?.sockets.watch(descriptor, for: interest, owner: .stream(self))
        } catch {
            self.streams?.doom(self, error)
        }
    }

    /// What the kernel has to say about a broken connection; `nil` when the peer merely closed it.
    private func kernelError() -> TransportError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard let descriptor = self.connection?.descriptor,
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code != 0
        else { return nil }
        let detail = errorText(code)
        return switch code {
        case ECONNRESET, EPIPE, ECONNABORTED: TransportError(.connectionLost, detail: detail)
        // The peer has said nothing: what was sent is not acknowledged, or the way there is gone.
        default: TransportError(.timedOut, detail: "the peer cannot be reached any more: \(detail)")
        }
    }

    private func tearDown() {
        self.state = .closed
        self.delegate = nil
        self.outgoing.removeAll()
        if let (easy, group, descriptor) = self.connection {
            self.connection = nil
            self.streams?.sockets.forget(descriptor)
            group.remove(easy)
        }
        self.streams?.connectEnded(self, .over)
        self.streams?.forget(self)
    }
}
