/// A bare connection to a broker that has just closed another one, which shows whether the broker itself is still there.
///
/// Another receiver that takes over leaves the broker where it was. A broker that restarts refuses the connection. A
/// load balancer in front of it refuses it as well, or closes it again at once. This connection carries nothing, so no
/// receiver notices it. Lives on the loop's thread.
final class BrokerLook: ByteStreamDelegate {
    private let loop: any Loop
    private let patience: Duration
    private let answer: @Sendable (_ isThere: Bool) -> Void
    private var timer: TimerID?

    /// - Parameters:
    ///   - patience: the time for which a running broker keeps the connection.
    ///   - answer: called once, unless the loop ends before.
    private init(on loop: any Loop, patience: Duration, answer: @escaping @Sendable (_ isThere: Bool) -> Void) {
        (self.loop, self.patience, self.answer) = (loop, patience, answer)
    }

    static func begin(
        at target: BrokerLink.Target, on loop: any Loop, patience: Duration,
        answer: @escaping @Sendable (_ isThere: Bool) -> Void
    ) {
        let look = BrokerLook(on: loop, patience: patience, answer: answer)
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
    /// Decides about the next attempt. Before the policy reports another receiver, the agent checks that the broker is there.
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

    /// Whether a broker takes a bare connection, and keeps it for as long as the shortest delay before an attempt, 1 s.
    private func isThere(_ target: BrokerLink.Target) async -> Bool {
        let isThere = OneShot<Bool>()
        let patience = self.agent.reconnect.baseDelay
        let isAccepted = self.loop.submit { [loop = self.loop] in
            BrokerLook.begin(at: target, on: loop, patience: patience) { isThere.resume($0) }
        }
        // A loop that has ended cannot look.
        if !isAccepted { isThere.resume(true) }
        async let _: Void = {
            try? await Task.sleep(for: self.agent.runtime.configuration.environment.connectTimeout + patience)
            isThere.resume(false)
        }()
        return await isThere.value(onCancel: true)
    }
}
