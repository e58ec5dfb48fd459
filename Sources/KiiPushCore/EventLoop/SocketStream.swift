import CCurl
import Glibc

package final class SocketStream: ByteStream {
    private enum State {
        /// Connecting, or waiting in the ``ConnectQueue``. Exits: `open`, `closed`; `lingering` after
        /// ``closeAfterFlush()``.
        case connecting
        /// Exits: `lingering`, `closed`.
        case open
        /// The owner has closed the stream. Queued bytes are still being sent, or the peer has not closed yet. Exit:
        /// `closed`.
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
    // The kernel's reason for a broken connection. The kernel reports it once, and libcurl would drop it.
    private var breakage: TransportError?
    // Whether libcurl may hold bytes that are no longer in the socket, as with TLS.
    private let isBuffered: Bool
    private let sendTimeout: Duration?
    let target: StreamTarget
    let isInspected: Bool
    var isConnecting = false
    /// The number of streams that had connected to the target before this stream started.
    var connectedBefore = 0
    var isQueuedForFlush = false
    var isQueuedForDrain = false

    package private(set) var isPaused = false
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

// MARK: - Called by the set of streams and by the table of sockets

extension SocketStream {
    func start(_ easy: CurlEasy, in group: StreamGroup) throws(TransportError) {
        // Safe to escape: StreamSet keeps this object until `tearDown` has removed the handle.
        try easy.setUnowned(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        try group.add(easy)
        self.connection = (easy, group, -1)
    }

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
        // The most that libcurl reads at a time (CURLOPT_BUFFERSIZE(3)). Set only now, since a connecting stream would
        // waste the memory.
        _ = ccurl_easy_set_long(easy.raw, CURLOPT_BUFFERSIZE, StreamSet.receiveBytes)
        if let sendTimeout = self.sendTimeout {
            var milliseconds = UInt32(clamping: sendTimeout.wholeMillisecondsRoundedUp)
            // Fails for sockets that are not TCP, which need no timeout.
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, 4)
        }
        self.state = self.delegate == nil ? .lingering : .open
        self.updateInterest()
        if !self.outgoing.isEmpty { self.streams?.queueFlush(self) }
        // TLS may have read the peer's first bytes together with the end of the handshake.
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

    /// Delivers about `limit` bytes at most. Returns whether more may follow.
    func drain(into buffer: UnsafeMutableRawBufferPointer, limit: Int, until isSaturated: () -> Bool) -> Bool {
        var taken = 0
        while self.state == .open || self.state == .lingering, !self.isPaused {
            let (count, stop) = self.fill(buffer)
            taken += count
            if count > 0 {
                self.delegate?.stream(self, didReceive: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            switch stop {
            case .full where taken < limit && !isSaturated(): continue
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
            // Closing with unread bytes would send a reset, which overtakes the sent bytes. So this side shuts down
            // only its sending half, and waits for the peer to close. With TLS or a proxy, only the peer closes, as
            // MQTT servers do on DISCONNECT (MQTT 3.1.1 section 3.14.4).
            if isDone, self.state == .lingering, !self.isBuffered, let descriptor = self.connection?.descriptor {
                shutdown(descriptor, Int32(SHUT_WR))
            }
        } catch {
            self.sendFailed(error)
        }
    }

    /// Reports the kernel's reason for a broken connection instead of `error`, unless `error` has the server's reason.
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
            // A short read from a plain socket empties it, and epoll reports new bytes. TLS returns one record at a
            // time and may hold another, which epoll cannot see.
            if !self.isBuffered, filled < buffer.count { return (filled, .wouldBlock) }
        }
        return (filled, .full)
    }

    // For a Unix socket, libcurl's message would name an invented URL.
    private func connectError(_ easy: CurlEasy, _ code: CURLcode) -> TransportError {
        var error = easy.error(code)
        if case .unix(let path) = self.target, error.code == .connectionRefused {
            error.detail = "nobody accepts connections on the socket \(path)"
        }
        return error
    }

    // A broker may send its reason before it stops reading, so received bytes are read first.
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
            self.streams?.failLater(self, error)
        }
    }

    /// `nil` if the peer merely closed the connection.
    private func kernelError() -> TransportError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard let descriptor = self.connection?.descriptor,
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code != 0
        else { return nil }
        let detail = errorText(code)
        return switch code {
        case ECONNRESET, EPIPE, ECONNABORTED: TransportError(.connectionLost, detail: detail)
        // The peer is silent: it acknowledges nothing, or the route is gone.
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
