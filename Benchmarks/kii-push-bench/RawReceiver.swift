import KiiPushCore

/// Receives whole messages and acknowledges them at once: only the event loop, the byte stream and the MQTT session.
/// Loop thread only.
final class RawReceiver: ByteStreamDelegate {
    private let loop: EventLoop
    private let count: Int
    private var session: MQTTSession
    private var output = MQTTSession.Output()
    private var stream: (any ByteStream)?
    private var received = 0
    private var payloadBytes = 0
    private var result: Result<Void, any Error>?
    private var report: (@Sendable (Result<Void, any Error>) -> Void)?

    init(loop: EventLoop, target: StreamTarget, configuration: MQTTSession.Configuration, count: Int) {
        self.loop = loop
        self.count = count
        self.session = MQTTSession(configuration: configuration)
        self.stream = loop.openStream(target, delegate: self)
    }

    /// Calls `report` once, after every message has arrived or after a failure.
    func whenDone(_ report: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        if let result = self.result { return report(result) }
        self.report = report
    }

    func streamDidConnect(_ stream: any ByteStream) {
        self.session.transportConnected(now: self.loop.now, into: &self.output)
        self.send()
    }

    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {
        self.session.received(bytes, now: self.loop.now, into: &self.output)
        self.received += self.output.messages.count
        for message in self.output.messages { self.payloadBytes += message.payload.count }
        if let last = self.output.messages.last?.ticket {
            self.session.acknowledge(through: last, into: &self.output)
        }
        if self.received >= self.count, self.result == nil {
            self.session.disconnect(into: &self.output)
            self.send()
            stream.closeAfterFlush()
            self.finish(.success(()))
        }
        self.send()
    }

    func streamDidClose(_ stream: any ByteStream, error: TransportError) {
        self.finish(.failure(error))
    }

    private func send() {
        if !self.output.bytes.isEmpty { self.stream?.send(self.output.bytes) }
        self.output.removeAll()
    }

    private func finish(_ result: Result<Void, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        self.report?(result)
    }
}
