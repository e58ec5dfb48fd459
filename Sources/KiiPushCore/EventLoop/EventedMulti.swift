import CCurl

/// An event-driven multi handle: it calls libcurl for ready sockets and at the times that libcurl requests.
/// `curl_multi_perform` and `curl_multi_poll` would scan every handle on each call. Loop thread only.
final class EventedMulti {
    private let raw: UnsafeMutableRawPointer
    private let sockets: Epoll
    /// The time of the next call that libcurl requested, even if no socket is ready.
    private(set) var deadline: MonotonicInstant?
    // Whether libcurl ran since the last `advance`, and may have finished a handle.
    private var hasRun = false
    // The handles whose sockets libcurl gave up in the last call.
    private var socketless: [UnsafeMutableRawPointer] = []
    /// Called when ``advance(at:)`` has work, at once or at the ``deadline``.
    var woken: () -> Void = {}

    init(sockets: Epoll) throws(TransportError) {
        guard let raw = curl_multi_init() else {
            throw TransportError(.other, detail: "curl_multi_init returned no handle")
        }
        self.raw = raw
        self.sockets = sockets
        // Safe to escape: libcurl calls back only from inside calls made here, and `deinit` destroys the multi handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let socketChanged: curl_socket_callback = { easy, descriptor, what, context, _ in
            EventedMulti.of(context)?.socketChanged(descriptor, what, of: easy)
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
        // While it closes the last connections, libcurl would call back into a destroyed object. Unsetting cannot fail.
        _ = ccurl_multi_set_socket_callback(self.raw, nil, nil)
        _ = ccurl_multi_set_timer_callback(self.raw, nil, nil)
        curl_multi_cleanup(self.raw)
    }

    func set(_ option: CURLMoption, _ value: Int) throws(TransportError) {
        try EventedMulti.check(ccurl_multi_set_long(self.raw, option, value))
    }

    func add(_ easy: CurlEasy) throws(TransportError) {
        try EventedMulti.check(curl_multi_add_handle(self.raw, easy.raw))
    }

    /// Stops `easy`, which was added here or whose ``add(_:)`` failed; anything else is a programmer error.
    func remove(_ easy: CurlEasy) { curl_multi_remove_handle(self.raw, easy.raw) }

    func socketReady(_ descriptor: Int32, events: Epoll.Interest) {
        var actions: Int32 = 0
        if events & Epoll.readable != 0 { actions |= Int32(CURL_CSELECT_IN) }
        if events & Epoll.writable != 0 { actions |= Int32(CURL_CSELECT_OUT) }
        if events & Epoll.broken != 0 { actions |= Int32(CURL_CSELECT_ERR) }
        self.run(descriptor, actions)
    }

    /// Runs the due work, and hands out the owners of the handles that finished since the last call.
    func advance<Owner: AnyObject>(
        at now: MonotonicInstant, finished: (_ owner: Owner, _ result: CURLcode) -> Void
    ) {
        if let deadline = self.deadline, deadline <= now {
            self.deadline = nil
            self.run(ccurl_socket_timeout(), 0)
        }
        guard self.hasRun else { return }
        self.hasRun = false
        var left: Int32 = 0
        while let message = curl_multi_info_read(self.raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let owner = CurlEasy.owner(of: easy, Owner.self)
            else { continue }
            finished(owner, ccurl_message_result(message))
        }
    }

    private func run(_ descriptor: curl_socket_t, _ actions: Int32) {
        self.hasRun = true
        self.woken()
        var running: Int32 = 0
        self.socketless = []
        // Fails only for misuse or lack of memory; each handle's result shows the effect.
        curl_multi_socket_action(self.raw, descriptor, actions, &running)
        self.socketless.forEach(EventedMulti.requestCall)
    }

    /// Makes libcurl request a call for `easy` at once.
    ///
    /// When an address times out, libcurl 7.88 closes its socket, and tries the name's next address only in the next
    /// call for the handle. libcurl requests that call only for the end of the connect timeout (curl's issue 11920),
    /// but at the end of a pause at once. `curl_multi_socket_all` would forget the calls requested for other handles.
    private static func requestCall(for easy: UnsafeMutableRawPointer) {
        // Both calls fail for a handle that has lost its connection. Such a handle has no further address to try, so
        // the errors do not matter.
        curl_easy_pause(easy, CURLPAUSE_RECV)
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    private func socketChanged(_ descriptor: Int32, _ what: Int32, of easy: UnsafeMutableRawPointer?) {
        guard what != CURL_POLL_REMOVE else {
            if let easy { self.socketless.append(easy) }
            return self.sockets.release(descriptor)
        }
        var interest: Epoll.Interest = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest |= Epoll.readable }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest |= Epoll.writable }
        // If the kernel refuses to watch the socket, the transfer ends at its time limit, which needs no socket.
        try? self.sockets.watch(descriptor, for: interest, owner: .multi(self))
    }

    private func timerChanged(_ milliseconds: Int) {
        switch milliseconds {
        case ..<0: self.deadline = nil
        // Due at once: a time in the past, since `now` of the running turn is a little old.
        case 0: self.deadline = MonotonicInstant(nanoseconds: 0)
        default: self.deadline = .now() + .milliseconds(milliseconds)
        }
        if self.deadline != nil { self.woken() }
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
