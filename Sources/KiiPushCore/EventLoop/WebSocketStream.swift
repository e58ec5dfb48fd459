final class WebSocketStream: ByteStream, ByteStreamDelegate {
    /// At this many unsent bytes, pings stay unanswered: the server is not reading.
    private static let unsentLimit = 64 << 10

    private var delegate: (any ByteStreamDelegate)?
    /// `nil` once either side has closed the WebSocket.
    private var carrier: SocketStream?
    /// `nil` once the WebSocket is open.
    private var upgrade: WebSocketClientHandshake?
    private var decoder = WebSocketDecoder(role: .client)
    private var waiting: [UInt8] = []
    private let timers: TimerHeap
    private let timeout: Duration
    private var timer: TimerID?

    init(_ upgrade: WebSocketClientHandshake, delegate: any ByteStreamDelegate, timers: TimerHeap, timeout: Duration) {
        self.upgrade = upgrade
        self.delegate = delegate
        self.timers = timers
        self.timeout = timeout
    }

    func begin(on carrier: SocketStream) { self.carrier = carrier.isClosed ? nil : carrier }

    var isPaused: Bool { self.carrier?.isPaused ?? false }
    var unsentBytes: Int { (self.carrier?.unsentBytes ?? 0) + self.waiting.count }
    var report: ConnectionReport? { self.carrier?.report }

    func send(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, self.carrier != nil else { return }
        if self.upgrade == nil {
            self.send(.binary, bytes)
        } else {
            self.waiting += bytes
        }
    }

    func pauseReading() { self.carrier?.pauseReading() }
    func resumeReading() { self.carrier?.resumeReading() }

    func close() {
        self.carrier?.close()
        self.clear()
    }

    func closeAfterFlush() {
        guard self.upgrade == nil else { return self.close() }
        self.send(.close, WebSocketFrame.closePayload(1000))
        self.carrier?.closeAfterFlush()
        self.clear()
    }

    func streamDidConnect(_ stream: any ByteStream) {
        guard let upgrade = self.upgrade else { return }
        stream.send(upgrade.request)
        let limit = self.timeout
        self.timer = self.timers.schedule(at: .now() + limit) { [weak self] in
            let detail = "the server did not answer the WebSocket upgrade within \(limit.text)"
            self?.end(TransportError(.timedOut, detail: detail))
        }
    }

    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {
        // The loop overwrites its buffer with the next read, so the decoder may change the bytes.
        var bytes = UnsafeMutableRawBufferPointer(mutating: bytes)
        if self.upgrade != nil {
            guard let taken = self.readAnswer(bytes) else { return }
            bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[taken...])
            self.delegate?.streamDidConnect(self)
        }
        let payload = self.decoder.decode(bytes)
        if let ping = self.decoder.takePing(), self.unsentBytes < WebSocketStream.unsentLimit { self.send(.pong, ping) }
        if !payload.isEmpty { self.delegate?.stream(self, didReceive: UnsafeRawBufferPointer(payload)) }
        guard let end = self.decoder.end, self.carrier != nil else { return }
        self.send(.close, end.answer.map { WebSocketFrame.closePayload($0) } ?? [])
        self.end(end.error)
    }

    func streamDidClose(_ stream: any ByteStream, error: TransportError) {
        var error = error
        // The peer probably does not speak HTTP.
        if self.timer != nil { error.detail = "no answer to the WebSocket upgrade: \(error.detail)" }
        let delegate = self.delegate
        delegate?.streamDidClose(self, error: error)
        self.clear()
    }
}

extension WebSocketStream {
    /// Returns the length of the server's answer in `bytes`, once the WebSocket is open.
    private func readAnswer(_ bytes: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(TransportError) {
            guard let taken = try self.upgrade?.read(UnsafeRawBufferPointer(bytes)) else { return nil }
            self.upgrade = nil
            self.stopTimer()
            let waiting = self.waiting
            self.waiting = []
            self.send(waiting)
            return taken
        } catch {
            self.end(error)
            return nil
        }
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        var frame: [UInt8] = []
        frame.reserveCapacity(payload.count + 14)
        WebSocketFrame.append(opcode, payload, mask: .random(in: .min ... .max), to: &frame)
        self.carrier?.send(frame)
    }

    private func end(_ error: TransportError) {
        let delegate = self.delegate
        self.carrier?.closeAfterFlush()
        delegate?.streamDidClose(self, error: error)
        self.clear()
    }

    private func stopTimer() {
        if let timer { self.timers.cancel(timer) }
        self.timer = nil
    }

    private func clear() {
        self.stopTimer()
        self.delegate = nil
        self.carrier = nil
        self.waiting = []
    }
}
