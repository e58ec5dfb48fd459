import CCurl

/// A multi handle that is driven by events: libcurl is called for sockets that are ready and at the times it asks for.
/// `curl_multi_perform` and `curl_multi_poll` look at every handle they know on every call. Loop thread only.
final class EventedMulti {
    private let raw: UnsafeMutableRawPointer
    private let sockets: SocketTable
    /// When libcurl wants to be called although no socket is ready.
    private(set) var deadline: MonotonicInstant?
    // Whether libcurl has been called since the last look, and may have come to the end of something.
    private var hasMoved = false
    // Whether libcurl has let go of a socket since this was last unset.
    private var hasLetGo = false
    /// Called whenever there is something to ``advance(at:)`` for, at once or at the ``deadline``.
    var stirred: () -> Void = {}

    init(sockets: SocketTable) throws(TransportError) {
        guard let raw = curl_multi_init() else {
            throw TransportError(.other, detail: "curl_multi_init returned no handle")
        }
        self.raw = raw
        self.sockets = sockets
        // Safe to escape: libcurl calls back from inside calls made here only, and the multi handle dies with us.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let socketChanged: curl_socket_callback = { _, descriptor, what, context, _ in
            EventedMulti.of(context)?.socketChanged(descriptor, what)
            return 0
        }
        let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
            EventedMulti.of(context)?.timerChanged(milliseconds)
            return 0
        }
        try EventedMulti.check(ccurl_multi_set_socket_callback(raw, socketChanged, context))
        try EventedMulti.check(ccurl_multi_set_timer_callback(raw, timerChanged, context))
    }

    deinit {
        // Closing the last connections, libcurl would call back into an object that is no more. Unsetting cannot fail.
        _ = ccurl_multi_set_socket_callback(self.raw, nil, nil)
        _ = ccurl_multi_set_timer_callback(self.raw, nil, nil)
        // The only failures are misuse: every easy handle has been removed by its owner.
        curl_multi_cleanup(self.raw)
    }

    func set(_ option: CURLMoption, _ value: Int) throws(TransportError) {
        try EventedMulti.check(ccurl_multi_set_long(self.raw, option, value))
    }

    /// Begins what `easy` is set up for, at the next ``advance(at:)``.
    func add(_ easy: CurlEasy) throws(TransportError) {
        try EventedMulti.check(curl_multi_add_handle(self.raw, easy.raw))
    }

    /// Ends whatever `easy` is doing. Adding it failed or it was added here: otherwise a programmer error.
    func remove(_ easy: CurlEasy) { curl_multi_remove_handle(self.raw, easy.raw) }

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
            self.hasLetGo = false
            self.move(ccurl_socket_timeout(), 0)
            if self.hasLetGo { self.moveAll() }
        }
        defer { self.hasMoved = false }
        return self.hasMoved
    }

    /// Calls `body` for every handle that came to an end since the last call.
    func forEachFinished(_ body: (_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Void) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(self.raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            body(easy, ccurl_message_result(message))
        }
    }

    private func move(_ descriptor: curl_socket_t, _ actions: Int32) {
        self.hasMoved = true
        self.stirred()
        var running: Int32 = 0
        // Fails only for misuse or lack of memory; what it means for a handle shows in that handle's result.
        curl_multi_socket_action(self.raw, descriptor, actions, &running)
    }

    /// Has libcurl look at every handle.
    ///
    /// libcurl 7.88 gives an address up whose time is over, and would turn to the name's next one in the following call.
    /// It has no socket then, and asks for that call only at the end of the time for connecting (curl's issue 11920).
    private func moveAll() {
        var running: Int32 = 0
        curl_multi_socket_all(self.raw, &running)
    }

    private func socketChanged(_ descriptor: Int32, _ what: Int32) {
        guard what != CURL_POLL_REMOVE else {
            self.hasLetGo = true
            return self.sockets.release(descriptor)
        }
        var interest: Epoll.Interest = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest |= Epoll.readable }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest |= Epoll.writable }
        // If the kernel refuses, the handle runs into its time limit, which needs no socket.
        try? self.sockets.watch(descriptor, for: interest, owner: .multi(self))
    }

    private func timerChanged(_ milliseconds: Int) {
        switch milliseconds {
        case ..<0: self.deadline = nil
        // Due in this very turn, which began a moment before libcurl says "now".
        case 0: self.deadline = MonotonicInstant(nanoseconds: 0)
        default: self.deadline = .now() + .milliseconds(milliseconds)
        }
        if self.deadline != nil { self.stirred() }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> EventedMulti? {
        context.map { Unmanaged<EventedMulti>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func check(_ code: CURLMcode) throws(TransportError) {
        guard code == CURLM_OK else {
            let text = String(cString: curl_multi_strerror(code))
            throw TransportError(.other, detail: "libcurl's multi interface failed: \(text)")
        }
    }
}
