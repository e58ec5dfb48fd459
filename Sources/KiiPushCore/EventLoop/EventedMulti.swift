import CCurl

/// A multi handle that is driven by events: libcurl is called for sockets that are ready and at the times it asks for.
///
/// `curl_multi_perform` and `curl_multi_poll` look at every handle they know on every call. Loop thread only.
final class EventedMulti {
    private let multi: CurlMulti
    private let sockets: SocketTable
    /// When libcurl wants to be called although no socket is ready.
    private(set) var deadline: MonotonicInstant?
    // Whether libcurl has been called since the last look, and may have come to the end of something.
    private var hasMoved = false
    /// Called whenever there is something to ``advance(at:)`` for, at once or at the ``deadline``.
    var stirred: () -> Void = {}

    init(sockets: SocketTable) throws(TransportError) {
        self.multi = try CurlMulti()
        self.sockets = sockets
        // Safe to escape: libcurl calls back from inside calls made here only, and the multi handle dies with us.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try CurlMulti.check(ccurl_multi_set_socket_callback(self.multi.raw, multiSocketChanged, context))
        try CurlMulti.check(ccurl_multi_set_timer_callback(self.multi.raw, multiTimerChanged, context))
    }

    deinit {
        // Closing the last connections, libcurl would call back into an object that is no more. Unsetting cannot fail.
        _ = ccurl_multi_set_socket_callback(self.multi.raw, nil, nil)
        _ = ccurl_multi_set_timer_callback(self.multi.raw, nil, nil)
    }

    func set(_ option: CURLMoption, _ value: Int) throws(TransportError) { try self.multi.set(option, value) }

    /// Begins what `easy` is set up for, at the next ``advance(at:)``.
    func add(_ easy: CurlEasy) throws(TransportError) { try self.multi.add(easy) }

    /// Ends whatever `easy` is doing.
    func remove(_ easy: CurlEasy) { self.multi.remove(easy) }

    func socketReady(_ descriptor: Int32, events: Epoll.Interest) {
        var actions: Int32 = 0
        if events & Epoll.readable != 0 { actions |= Int32(CURL_CSELECT_IN) }
        if events & Epoll.writable != 0 { actions |= Int32(CURL_CSELECT_OUT) }
        if events & Epoll.broken != 0 { actions |= Int32(CURL_CSELECT_ERR) }
        self.move(descriptor, actions)
    }

    /// Does what is due, and returns whether anything may have come to an end since the last call.
    func advance(at now: MonotonicInstant) -> Bool {
        if let deadline = self.deadline, deadline <= now {
            self.deadline = nil
            self.move(ccurl_socket_timeout(), 0)
        }
        defer { self.hasMoved = false }
        return self.hasMoved
    }

    /// Calls `body` for every handle that came to an end since the last call.
    func forEachFinished(_ body: (_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Void) {
        self.multi.forEachFinished(body)
    }

    private func move(_ descriptor: curl_socket_t, _ actions: Int32) {
        self.hasMoved = true
        self.stirred()
        var running: Int32 = 0
        // Fails only for misuse or lack of memory; what it means for a handle shows in that handle's result.
        curl_multi_socket_action(self.multi.raw, descriptor, actions, &running)
    }

    fileprivate func socketChanged(_ descriptor: Int32, _ what: Int32) {
        var interest: Epoll.Interest = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest |= Epoll.readable }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest |= Epoll.writable }
        if what == CURL_POLL_REMOVE {
            self.sockets.release(descriptor)
        } else {
            // If the kernel refuses, the handle runs into its time limit, which needs no socket.
            try? self.sockets.watch(descriptor, for: interest, owner: .multi(self))
        }
    }

    fileprivate func timerChanged(_ milliseconds: Int) {
        switch milliseconds {
        case ..<0: self.deadline = nil
        // Due in this very turn, which began a moment before libcurl says "now".
        case 0: self.deadline = MonotonicInstant(nanoseconds: 0)
        default: self.deadline = .now() + .milliseconds(milliseconds)
        }
        if self.deadline != nil { self.stirred() }
    }
}

private func multiSocketChanged(
    _ easy: UnsafeMutableRawPointer?,
    _ descriptor: curl_socket_t,
    _ what: Int32,
    _ context: UnsafeMutableRawPointer?,
    _ perSocket: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<EventedMulti>.fromOpaque(context).takeUnretainedValue().socketChanged(descriptor, what)
    return 0
}

private func multiTimerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<EventedMulti>.fromOpaque(context).takeUnretainedValue().timerChanged(milliseconds)
    return 0
}
