import KiiPushCore
import TestSupport
import Testing

/// A registered agent whose token the cloud refuses. The cloud answers the first requests for another token as a test
/// says. Then it grants a token, and with that token a new endpoint.
struct RefusedAgent: Sendable {
    let agent: PushAgent
    private let broker: FakeBroker
    private let asked: Locked<Int>

    var requests: Int { self.asked.withLock { $0 } }

    /// Runs `body` with an agent of `account`. The cloud gives `answer` to the agent's first `times` requests for a
    /// token.
    static func with(
        _ account: KiiAccount, _ answer: FakeCloud.Answer, times: Int,
        _ body: (RefusedAgent) async throws -> Void
    ) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
            if account != .pseudoUser { try change("account", to: "user:alice", in: file) }
            try change("refreshToken", to: "r0", in: file)
            try change("endpointExpiresAt", to: 0, in: file)
            let asked = Locked(0)
            let endpoint =
                #"{"username":"name","password":"another","mqttTopic":"topic-2","host":"127.0.0.1","portTCP":"#
                + "\(broker.port)}"
            let cloud = try FakeCloud { request in
                if request.path.hasSuffix("/oauth2/token") {
                    let count = asked.withLock { asked in
                        asked += 1
                        return asked
                    }
                    return count <= times ? answer : .init(status: 200, body: #"{"id":"u-1","access_token":"t1"}"#)
                }
                return asked.withLock { $0 } <= times
                    ? .init(status: 401, body: #"{"errorCode":"UNAUTHORIZED"}"#) : .init(status: 200, body: endpoint)
            }
            var configuration = configuration
            configuration.account = account
            try await body(
                RefusedAgent(agent: PushAgent(of: cloud, runtime, configuration), broker: broker, asked: asked))
        }
    }

    func runUntilItReceives() async throws {
        let events = self.agent.events
        async let kept = self.broker.play { broker in
            // The first connection may end before it is open, because the cloud names the new topic.
            let first = try broker.accept()
            _ = try? first.open(sessionPresent: true)
            return [first, try broker.acceptSession()]
        }
        try await whileRunning(self.agent) {
            let event = await firstEvent(events) {
                if case .registered(let now) = $0 { now.mqttTopic == "topic-2" } else { false }
            }
            #expect(event != nil)
            #expect(await firstEvent(events) { if case .connected = $0 { true } else { false } } != nil)
        }
        withExtendedLifetime(try await kept) {}
    }
}
