import CCurl

/// Some of a loop's streams in one multi handle that is driven by events. Loop thread only.
///
/// `curl_multi_perform` and `curl_multi_poll` look at every handle they know on every call, and each `curl_easy_recv` and
/// `curl_easy_send` searches all connections of its multi handle. So streams are kept apart from the transfers, in
/// groups small enough for that search not to matter; a gateway has thousands.
final class StreamGroup {
    static let capacity = 32

    private let multi: CurlMulti
    private let sockets: SocketTable
    private(set) var streams = 0
    /// When libcurl wants to be called although no socket is ready.
    private(set) var deadline: MonotonicInstant?

    init(sockets: SocketTable) throws(TransportError) {
        self.multi = try CurlMulti()
        self.sockets = sockets
        // Safe to escape: libcurl calls back from inside calls made here only, and the multi handle dies with us.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try CurlMulti.check(ccurl_multi_set_socket_callback(self.multi.raw, groupSocketChanged, context))
        try CurlMulti.check(ccurl_multi_set_timer_callback(self.multi.raw, groupTimerChanged, context))
    }

    deinit {
        // Closing the last connections, libcurl would call back into an object that is no more. Unsetting cannot fail.
        _ = ccurl_multi_set_socket_callback(self.multi.raw, nil, nil)
        _ = ccurl_multi_set_timer_callback(self.multi.raw, nil, nil)
    }

    func add(_ easy: CurlEasy) throws(TransportError) {
        try self.multi.add(easy)
        self.streams += 1
    }

    func remove(_ easy: CurlEasy) {
        self.multi.remove(easy)
        self.streams -= 1
    }

    func socketReady(_ descriptor: Int32, events: Epoll.Interest) {
        var actions: Int32 = 0
        if events & Epoll.readable != 0 { actions |= Int32(CURL_CSELECT_IN) }
        if events & Epoll.writable != 0 { actions |= Int32(CURL_CSELECT_OUT) }
        if events & Epoll.broken != 0 { actions |= Int32(CURL_CSELECT_ERR) }
        var running: Int32 = 0
        curl_multi_socket_action(self.multi.raw, descriptor, actions, &running)
    }

    /// Returns whether libcurl's time had come.
    func fireDeadline(at now: MonotonicInstant) -> Bool {
        guard let deadline = self.deadline, deadline <= now else { return false }
        self.deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(self.multi.raw, ccurl_socket_timeout(), 0, &running)
        return true
    }

    /// The streams that have connected, or failed to, since the last call.
    func takeSettled() -> [(stream: ByteStream, result: CURLcode)] {
        var settled: [(stream: ByteStream, result: CURLcode)] = []
        self.multi.forEachFinished { easy, result in
            if let stream = ByteStream.of(easy) { settled.append((stream, result)) }
        }
        return settled
    }

    fileprivate func socketChanged(_ descriptor: Int32, _ what: Int32) {
        var interest: Epoll.Interest = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest |= Epoll.readable }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest |= Epoll.writable }
        if what == CURL_POLL_REMOVE {
            self.sockets.forgetConnecting(descriptor)
        } else {
            // If the kernel refuses, the stream runs into its connect timeout, which needs no socket.
            try? self.sockets.watch(descriptor, for: interest, owner: .group(self))
        }
    }

    fileprivate func timerChanged(_ milliseconds: Int) {
        self.deadline = milliseconds < 0 ? nil : .now() + .milliseconds(milliseconds)
    }
}

private func groupSocketChanged(
    _ easy: UnsafeMutableRawPointer?,
    _ descriptor: curl_socket_t,
    _ what: Int32,
    _ context: UnsafeMutableRawPointer?,
    _ perSocket: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<StreamGroup>.fromOpaque(context).takeUnretainedValue().socketChanged(descriptor, what)
    return 0
}

private func groupTimerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<StreamGroup>.fromOpaque(context).takeUnretainedValue().timerChanged(milliseconds)
    return 0
}
