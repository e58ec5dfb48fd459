import CCurl

final class StreamSet {
    /// A larger buffer is slower (measured). If the messages of one read come to 128 KiB and are freed before the next,
    /// glibc's malloc returns the memory to the kernel (mallopt(3)). The kernel then clears new pages for the next
    /// read.
    static let receiveBytes = 64 << 10

    let sockets: Epoll
    private let configuration: EventLoop.Configuration
    private let options: ConnectionOptions
    private let timers: TimerHeap
    private let buffer: UnsafeMutableRawBufferPointer
    private var groups: [StreamGroup] = []
    private var woken: [StreamGroup] = []
    private var streams: [ObjectIdentifier: SocketStream] = [:]
    private var connectQueue: ConnectQueue
    private var toDrain: [SocketStream] = []
    private var toFlush: [SocketStream] = []
    private var failing: [(stream: SocketStream, error: TransportError)] = []
    private var hasEnded = false

    init(
        _ configuration: EventLoop.Configuration, options: ConnectionOptions, timers: TimerHeap, sockets: Epoll
    ) {
        self.sockets = sockets
        self.connectQueue = ConnectQueue(limit: configuration.maximumConnectsPerTarget)
        (self.configuration, self.options, self.timers) = (configuration, options, timers)
        self.buffer = .allocate(byteCount: StreamSet.receiveBytes, alignment: 64)
    }

    deinit { self.buffer.deallocate() }

    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        guard case .webSocket(let host, let port, let usesTLS) = target else {
            return self.open(target, sendTimeout: sendTimeout, isInspected: isInspected, delegate: delegate)
        }
        let upgrade = WebSocketClientHandshake(
            host: host, port: port, usesTLS: usesTLS, key: (0..<16).map { _ in .random(in: .min ... .max) },
            fields: [HTTPField("User-Agent", self.configuration.userAgent)])
        let stream = WebSocketStream(
            upgrade, delegate: delegate, timers: self.timers, timeout: self.configuration.connectTimeout)
        stream.begin(
            on: self.open(target, sendTimeout: sendTimeout, isInspected: isInspected, delegate: stream))
        return stream
    }

    private func open(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> SocketStream {
        let stream = SocketStream(
            target, delegate: delegate, streams: self, isBuffered: target.isTLS || self.options.usesProxy,
            sendTimeout: sendTimeout, isInspected: isInspected)
        guard !self.hasEnded else {
            stream.close()
            return stream
        }
        self.streams[ObjectIdentifier(stream)] = stream
        if self.connectQueue.enter(stream) { self.connect(stream) }
        return stream
    }

    private func connect(_ stream: SocketStream) {
        stream.isConnecting = true
        do {
            let easy = try self.handle(for: stream.target)
            if stream.isInspected { try easy.set(CURLOPT_CERTINFO, 1) }
            try stream.start(easy, in: try self.groupWithRoom())
        } catch {
            self.failLater(stream, error)
        }
    }

    var hasWork: Bool { !self.toDrain.isEmpty || !self.toFlush.isEmpty || !self.failing.isEmpty }

    func nextDeadline() -> MonotonicInstant? { self.woken.lazy.compactMap(\.deadline).min() }

    func process(now: MonotonicInstant, isSaturated: () -> Bool) {
        let groups = self.woken
        self.woken.removeAll(keepingCapacity: true)
        for group in groups {
            group.isWoken = false
            for (stream, result) in group.takeSettled(at: now) { stream.settled(result) }
            if group.deadline != nil { self.wake(group) }
        }
        let failing = self.failing
        self.failing = []
        for (stream, error) in failing { stream.fail(error) }
        let streams = self.toDrain
        self.toDrain.removeAll(keepingCapacity: true)
        var unfinished: [SocketStream] = []
        for (index, stream) in streams.enumerated() {
            if isSaturated() {
                self.toDrain = streams[index...] + self.toDrain
                break
            }
            stream.isQueuedForDrain = false
            let limit = self.configuration.drainBytes
            if stream.drain(into: self.buffer, limit: limit, until: isSaturated) { unfinished.append(stream) }
        }
        for stream in unfinished { self.queueDrain(stream) }
    }

    func flush() {
        let streams = self.toFlush
        self.toFlush.removeAll(keepingCapacity: true)
        for stream in streams {
            stream.isQueuedForFlush = false
            stream.flush()
        }
    }

    func endAll(_ error: TransportError) {
        // A delegate may open another stream when its stream ends. The new stream is refused.
        self.hasEnded = true
        for stream in self.streams.values { stream.fail(error) }
        self.failing = []
    }

    private func groupWithRoom() throws(TransportError) -> StreamGroup {
        if let group = self.groups.first(where: { $0.streams < StreamGroup.capacity }) { return group }
        let group = try StreamGroup(sockets: self.sockets) { [weak self] in self?.wake($0) }
        self.groups.append(group)
        return group
    }

    private func wake(_ group: StreamGroup) {
        guard !group.isWoken else { return }
        group.isWoken = true
        self.woken.append(group)
    }

    private func handle(for target: StreamTarget) throws(TransportError) -> CurlEasy {
        let easy = try CurlEasy()
        try easy.prepare()
        try easy.set(CURLOPT_URL, try target.url())
        if case .unix(let path) = target {
            try easy.set(CURLOPT_UNIX_SOCKET_PATH, path)
            try self.options.apply(to: easy, isLocal: true)
        } else {
            try self.options.apply(to: easy)
            if self.options.usesProxy { try easy.set(CURLOPT_HTTPPROXYTUNNEL, 1) }
        }
        self.options.reloadChangedAuthorities(easy, usesTLS: true)
        // Connect only. 2 would also open a WebSocket.
        try easy.set(CURLOPT_CONNECT_ONLY, 1)
        // With ALPN, the TLS handshake would offer HTTP, although the stream carries MQTT.
        try easy.set(CURLOPT_SSL_ENABLE_ALPN, 0)
        try easy.set(CURLOPT_TCP_NODELAY, 1)
        // With a send timeout up to 75 s, one unanswered probe ends the connection after 75 s without traffic.
        // Without a send timeout, Linux sends more probes, nine by default.
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        try easy.set(CURLOPT_TCP_KEEPIDLE, 60)
        try easy.set(CURLOPT_TCP_KEEPINTVL, 15)
        // Without this callback, libcurl would print the proxy's answer to a refused tunnel on standard output.
        try easy.check(ccurl_easy_set_callback(easy.raw, CURLOPT_WRITEFUNCTION, discard))
        return easy
    }
}

// MARK: - Called by the streams

extension StreamSet {
    func queueDrain(_ stream: SocketStream) {
        guard !stream.isQueuedForDrain else { return }
        stream.isQueuedForDrain = true
        self.toDrain.append(stream)
    }

    func queueFlush(_ stream: SocketStream) {
        guard !stream.isQueuedForFlush else { return }
        stream.isQueuedForFlush = true
        self.toFlush.append(stream)
    }

    /// Fails the stream in the next turn, outside any call to the stream.
    func failLater(_ stream: SocketStream, _ error: TransportError) { self.failing.append((stream, error)) }

    func connectEnded(_ stream: SocketStream, _ ending: ConnectQueue.Ending) {
        guard stream.isConnecting else { return }
        stream.isConnecting = false
        guard !self.hasEnded else { return }
        switch self.connectQueue.leave(stream, ending) {
        case .nothing: break
        case .connect(let next): self.connect(next)
        case .fail(let waiting, let error): for stream in waiting { self.failLater(stream, error) }
        }
    }

    func limitLinger(_ stream: SocketStream) {
        let deadline = MonotonicInstant.now() + self.configuration.lingerTimeout
        _ = self.timers.schedule(at: deadline) { [weak stream] in stream?.close() }
    }

    func forget(_ stream: SocketStream) { self.streams.removeValue(forKey: ObjectIdentifier(stream)) }
}

private func discard(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    size * count
}
