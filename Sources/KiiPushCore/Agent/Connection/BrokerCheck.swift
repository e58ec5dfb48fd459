/// A TCP connection that tests whether a broker still runs after an MQTT connection was closed.
///
/// If another receiver took over, the broker still accepts connections. While the broker restarts, its machine refuses
/// the connection; a load balancer refuses it, or closes it at once. The test sends nothing, so it disturbs no
/// receiver.
final class BrokerCheck: ByteStreamDelegate {
    private let loop: any Loop
    private let patience: Duration
    private let answer: @Sendable (_ isThere: Bool) -> Void
    private var timer: TimerID?

    /// - Parameter patience: if the connection stays open for this time, the broker counts as running.
    private init(on loop: any Loop, patience: Duration, answer: @escaping @Sendable (_ isThere: Bool) -> Void) {
        (self.loop, self.patience, self.answer) = (loop, patience, answer)
    }

    static func begin(
        at target: BrokerLink.Target, on loop: any Loop, patience: Duration,
        answer: @escaping @Sendable (_ isThere: Bool) -> Void
    ) {
        let look = BrokerCheck(on: loop, patience: patience, answer: answer)
        _ = loop.openStream(target.bare, sendTimeout: nil, isInspected: false, delegate: look)
    }

    func streamDidConnect(_ stream: any ByteStream) {
        self.timer = self.loop.schedule(at: self.loop.now + self.patience) { [answer] in
            stream.close()
            answer(true)
        }
    }

    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {}

    func streamDidClose(_ stream: any ByteStream, error: TransportError) {
        if let timer { self.loop.cancel(timer) }
        self.answer(false)
    }
}

extension AgentSession {
    /// Tests whether the broker still runs before the policy reports another receiver.
    func decision(
        after end: BrokerLink.End, at endpoint: MQTTEndpoint, _ policy: inout ReconnectPolicy
    ) async throws -> ReconnectPolicy.Decision {
        let before = policy
        let decision = policy.connectionEnded(end.loss, connectedFor: end.connectedFor, hadSession: end.hadSession)
        let target = try self.target(endpoint)
        guard decision.takeover != nil, await !self.isThere(target) else { return decision }
        policy = before
        return policy.connectionEnded(
            end.loss, connectedFor: end.connectedFor, hadSession: end.hadSession, brokerIsGone: true)
    }

    private func isThere(_ target: BrokerLink.Target) async -> Bool {
        let isThere = OneShot<Bool>()
        let patience = self.agent.reconnect.baseDelay
        let isAccepted = self.loop.submit { [loop = self.loop] in
            BrokerCheck.begin(at: target, on: loop, patience: patience) { isThere.resume($0) }
        }
        if !isAccepted { isThere.resume(true) }
        async let _: Void = {
            try? await Task.sleep(for: self.agent.runtime.configuration.environment.connectTimeout + patience)
            isThere.resume(false)
        }()
        return await isThere.value(onCancel: true)
    }
}
