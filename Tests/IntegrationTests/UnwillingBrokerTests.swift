import KiiPushCore
import TestSupport
import Testing

@Suite struct UnwillingBrokerTests {
    enum Refusal: CaseIterable, CustomTestStringConvertible {
        case afterConnack, afterSuback, serverUnavailable

        var testDescription: String { "\(self)" }

        /// Accepts the next client as far as the refusal says, and closes the connection.
        func play(_ broker: FakeBroker) throws {
            let connection = try broker.accept()
            switch self {
            case .afterConnack:
                _ = try connection.receive()
                try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
                _ = try connection.receive()
            case .afterSuback: try connection.open(sessionPresent: true)
            case .serverUnavailable:
                _ = try connection.receive()
                try connection.send(.connack(MQTTConnack(sessionPresent: false, code: .serverUnavailable)))
            }
        }
    }

    private static let quick: ReconnectPolicy.Configuration = {
        var configuration = ReconnectPolicy.Configuration()
        configuration.baseDelay = .milliseconds(2)
        configuration.maximumDelay = .milliseconds(20)
        // Long enough that every closure counts as immediate, even on a slow machine.
        configuration.pattern.kickedWithin = .seconds(600)
        return configuration
    }()

    /// The cloud's answer with the endpoint that the agent has on file.
    private static func endpoint(
        _ broker: FakeBroker, password: String = "password", topic: String = "topic-1"
    ) -> String {
        #"{"username":"name","password":"\#(password)","mqttTopic":"\#(topic)","host":"127.0.0.1","#
            + #""portTCP":\#(broker.port),"portSSL":1}"#
    }

    private func agent(
        _ cloud: FakeCloud, _ runtime: PushRuntime, _ configuration: PushAgent.Configuration,
        _ reconnect: ReconnectPolicy.Configuration = quick
    ) -> PushAgent {
        var configuration = configuration
        configuration.app = AgentStateFixture.app(at: cloud.baseURL)
        return PushAgent(
            runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: reconnect)
    }

    private func losses(_ events: AsyncStream<PushEvent>, _ count: Int) async -> [(reason: String, delay: Duration)] {
        var losses: [(String, Duration)] = []
        for await event in events {
            if case .disconnected(let reason, let delay) = event { losses.append((reason, delay)) }
            if losses.count == count { break }
        }
        return losses
    }

    @Test(arguments: Refusal.allCases)
    func everyThirdRefusalIsFollowedByAnotherLookAtTheEndpoint(refusal: Refusal) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { [answer = Self.endpoint(broker)] _ in .init(status: 200, body: answer) }
            let agent = self.agent(cloud, runtime, configuration)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in for _ in 1...10 { try refusal.play(broker) } }
                // Requests after the losses 3, 6 and 9. If no connection succeeded, one more after the first loss,
                // because the endpoint was only on file.
                #expect(cloud.requests.count == (refusal == .afterSuback ? 3 : 4))
                #expect(cloud.requests.allSatisfy { $0.path.hasSuffix("/mqtt-endpoint") })
                let losses = await self.losses(events, 9)
                #expect(losses.allSatisfy { (.milliseconds(2) ... .milliseconds(20)).contains($0.delay) })
                guard refusal == .afterSuback else { return }
                #expect(losses[2].reason.contains("closes at once, 3 times in a row by now"))
                #expect(losses[8].reason.contains("closes at once, 9 times in a row by now"))
            }
        }
    }

    /// A slow link looks like this; the agent must not assume refusals or another receiver.
    @Test func connectionsThatEndAfterAMessageAndAheadOfSubackTellNothingOfTheBroker() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { [answer = Self.endpoint(broker)] _ in .init(status: 200, body: answer) }
            let agent = self.agent(cloud, runtime, configuration)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    for number in 1...4 {
                        let connection = try broker.accept()
                        _ = try connection.receive()
                        try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
                        _ = try connection.receive()
                        try connection.send(.message(number, packetID: UInt16(number)))
                        _ = try connection.receiveAcknowledgements(1)
                    }
                }
                for loss in await self.losses(events, 4) {
                    #expect(!loss.reason.contains("closes at once"), "\(loss.reason)")
                    #expect(!loss.reason.contains("another receiver"), "\(loss.reason)")
                }
            }
        }
    }

    @Test(arguments: Refusal.allCases, [true, false])
    func aCloudThatAsksForTimeGetsItWhileTheBrokerIsTried(refusal: Refusal, inHeader: Bool) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { _ in
                inHeader
                    ? .init(status: 503, fields: ["Retry-After: 3600"])
                    : .init(status: 503, body: #"{"errorCode":"TEMPORARY","retryAfter":3600}"#)
            }
            try await whileRunning(self.agent(cloud, runtime, configuration)) {
                try await broker.play { broker in for _ in 1...10 { try refusal.play(broker) } }
                #expect(cloud.requests.count == 1)
            }
        }
    }

    /// The agent has a reason for a request at the start, during the connection and after each loss; it still sends
    /// only one.
    @Test(arguments: Refusal.allCases)
    func aCloudThatAsksForTimeGetsItAlsoWhenTheEndpointsTimeIsUp(refusal: Refusal) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { _ in .init(status: 503, fields: ["Retry-After: 3600"]) }
            try change("endpointExpiresAt", to: 0, in: "\(runtime.configuration.stateDirectory)/agents/default.json")
            try await whileRunning(self.agent(cloud, runtime, configuration)) {
                try await broker.play { broker in for _ in 1...10 { try refusal.play(broker) } }
                #expect(cloud.requests.count == 1)
            }
        }
    }

    /// Without an endpoint, the agent can only ask the cloud again.
    @Test(arguments: [true, false])
    func anEnrolmentWaitsAsLongAsTheCloudAsks(inHeader: Bool) async throws {
        try await withFakeBroker { _, runtime, configuration in
            let cloud = try FakeCloud { _ in
                inHeader
                    ? .init(status: 429, fields: ["Retry-After: 3600"])
                    : .init(status: 429, body: #"{"errorCode":"TOO_MANY_REQUESTS","retryAfter":3600}"#)
            }
            let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
            let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
            let members = (state.members ?? []).filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
            try PrivateFile.replace(file, with: JSONValue.object(members).serialized())
            let agent = self.agent(cloud, runtime, configuration)
            let events = agent.events
            try await whileRunning(agent) {
                let delay = await self.losses(events, 1).first?.delay ?? .zero
                #expect((.seconds(3600) ... .seconds(3960)).contains(delay))
                #expect(cloud.requests.count == 1)
            }
        }
    }

    /// A policy with delays so long that no test may wait for one.
    private static let patient: ReconnectPolicy.Configuration = {
        var configuration = ReconnectPolicy.Configuration()
        configuration.baseDelay = .seconds(600)
        configuration.maximumDelay = .seconds(600)
        return configuration
    }()

    @Test(arguments: [ConnackCode.badUserNameOrPassword, .notAuthorized])
    func refusedCredentialsAreReplacedAtOnce(code: ConnackCode) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let answer = Self.endpoint(broker, password: "another")
            let cloud = try FakeCloud { _ in .init(status: 200, body: answer) }
            let agent = self.agent(cloud, runtime, configuration, Self.patient)
            let events = agent.events
            try await whileRunning(agent) {
                let connections = try await broker.play { broker in
                    let first = try broker.accept()
                    _ = try first.receive()
                    try first.send(.connack(MQTTConnack(sessionPresent: false, code: code)))
                    let second = try broker.accept()
                    #expect(try second.open(sessionPresent: true).password == "another")
                    return [first, second]
                }
                #expect(await self.losses(events, 1).first?.delay == .zero)
                withExtendedLifetime(connections) {}
            }
        }
    }

    /// The cloud has given the installation another topic, and the registration opens the session for the new topic.
    @Test func registeringOpensTheSessionOfTheEndpointThatReplacesARefusedOne() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            try change("hasSession", to: false, in: "\(runtime.configuration.stateDirectory)/agents/default.json")
            let asked = Locked(0)
            let cloud = try FakeCloud { _ in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return .init(status: 200, body: Self.endpoint(broker, topic: "topic-\(number)"))
            }
            async let clients = broker.play { broker -> ([String], [FakeConnection]) in
                let first = try broker.accept()
                guard case .connect(let refused) = try first.receive() else { throw TestFailure("no CONNECT") }
                try first.send(.connack(MQTTConnack(sessionPresent: false, code: .notAuthorized)))
                let second = try broker.accept()
                guard case .connect(let connect) = try second.receive() else { throw TestFailure("no CONNECT") }
                try second.send(.connack(MQTTConnack(sessionPresent: false, code: .accepted)))
                guard case .subscribe(let subscribe) = try second.receive() else { throw TestFailure("no SUBSCRIBE") }
                try second.send(.suback(MQTTSuback(packetID: subscribe.packetID, grants: [.atLeastOnce])))
                return ([refused.clientID, connect.clientID] + subscribe.entries.map(\.filter), [first, second])
            }
            try await self.agent(cloud, runtime, configuration).register()
            let (names, connections) = try await clients
            #expect(names == ["topic-1", "topic-2", "topic-2"])
            withExtendedLifetime(connections) {}
        }
    }

    /// MQTT requires the client to close the connection. The broker would send the message again at once.
    @Test(
        arguments: [
            ([0xFF, 0xFE], "its topic is not UTF-8"), ([0x61, 0x00], "its topic holds U+0000"),
            (Array("a/+".utf8), "the topic is empty or holds a wildcard"),
            (Array("#".utf8), "the topic is empty or holds a wildcard"),
        ] as [([UInt8], String)])
    func aMessageThatMQTTForbidsIsNamedAndSlowsTheAgentDown(topic: [UInt8], fault: String) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var reconnect = ReconnectPolicy.Configuration()
            // Each connection counts as stable, and a stable connection's loss has no delay.
            reconnect.stableAfter = .zero
            reconnect.firstDelayAfterOwnLoss = .zero
            reconnect.firstDelayAfterPeerLoss = .zero
            reconnect.baseDelay = .milliseconds(20)
            reconnect.maximumDelay = .milliseconds(40)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: reconnect)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    for _ in 1...3 {
                        let connection = try broker.acceptSession()
                        let rest = [0, UInt8(topic.count)] + topic + [0, 7] + Array(#"{"n":1}"#.utf8)
                        try connection.send(bytes: [0x32, UInt8(rest.count)] + rest)
                        guard (try? connection.receive()) == nil else {
                            throw TestFailure("the connection still stands")
                        }
                    }
                }
                for loss in await self.losses(events, 3) {
                    #expect(loss.reason.hasPrefix("the broker broke the protocol: malformed MQTT PUBLISH: \(fault)."))
                    #expect(!loss.reason.contains("port"))
                    #expect((.milliseconds(20) ... .milliseconds(40)).contains(loss.delay))
                }
            }
        }
    }

    @Test(arguments: [ConnackCode.badUserNameOrPassword, .notAuthorized])
    func refusedCredentialsThatAreTheSameAgainAreToldOnceAndNotTriedAgainAtOnce(code: ConnackCode) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let answer = Self.endpoint(broker)
            let cloud = try FakeCloud { _ in .init(status: 200, body: answer) }
            let agent = self.agent(cloud, runtime, configuration, Self.patient)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try broker.accept()
                    _ = try connection.receive()
                    try connection.send(.connack(MQTTConnack(sessionPresent: false, code: code)))
                    return connection
                }
                let loss = await self.losses(events, 1).first
                #expect(loss?.delay == .seconds(600))
                #expect(loss?.reason.contains("(CONNACK \(code.rawValue))") == true)
                #expect(cloud.requests.count == 1)
                withExtendedLifetime(kept) {}
            }
        }
    }
}
