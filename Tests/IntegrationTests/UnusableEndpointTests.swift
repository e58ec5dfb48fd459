import KiiPushCore
import TestSupport
import Testing

/// Useless answers to the request for the endpoint: illegal topics, and answers that are not the cloud's.
@Suite struct UnusableEndpointTests {
    static let topics = ["#", "a/+", "$SYS/uptime", "a\\u0000b", String(repeating: "t", count: 1025)]

    private static func endpoint(_ broker: FakeBroker, topic: String) -> String {
        #"{"username":"name","password":"password","mqttTopic":"\#(topic)","host":"127.0.0.1","#
            + #""portTCP":\#(broker.port),"portSSL":1}"#
    }

    @Test(arguments: Self.topics)
    func anEndpointWithSuchATopicIsNamedAndNotUsed(topic: String) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            try Self.forgetEndpoint(runtime)
            let cloud = try FakeCloud { [answer = Self.endpoint(broker, topic: topic)] _ in
                .init(status: 200, body: answer)
            }
            let agent = PushAgent(of: cloud, runtime, configuration)
            let events = agent.events
            try await whileRunning(agent) {
                let first = await firstEvent(events) {
                    switch $0 {
                    case .connecting, .disconnected: true
                    default: false
                    }
                }
                guard case .disconnected(let reason, _) = first else { throw TestFailure("\(first as Any)") }
                #expect(reason.contains("/mqtt-endpoint answered 200, but \"/mqttTopic\" "), "\(reason)")
            }
        }
    }

    private static func forgetEndpoint(_ runtime: PushRuntime) throws {
        let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
        let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
        let members = (state.members ?? []).filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
        try PrivateFile.replace(file, with: JSONValue.object(members).serialized())
    }

    @Test(arguments: [400, 404, 302])
    func whatAGatewayAnswersEndsNoRun(status: Int) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            try Self.forgetEndpoint(runtime)
            let asked = Locked(0)
            let cloud = try FakeCloud { [answer = Self.endpoint(broker, topic: "topic-1")] _ in
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return count < 3 ? .init(status: status, body: "<html>no</html>") : .init(status: 200, body: answer)
            }
            try await whileRunning(PushAgent(of: cloud, runtime, configuration)) {
                let connect = try await broker.play { try $0.accept().open() }
                #expect(connect.clientID == "topic-1")
            }
        }
    }

    @Test func oneThatIsOnFileIsFetchedAgain() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
            let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
            let endpoint = (state["endpoint"]?.members ?? []).map {
                ($0.key, $0.key == "mqttTopic" ? "#" : $0.value)
            }
            try change("endpoint", to: .object(endpoint), in: file)
            let cloud = try FakeCloud { [answer = Self.endpoint(broker, topic: "topic-1")] _ in
                .init(status: 200, body: answer)
            }
            try await whileRunning(PushAgent(of: cloud, runtime, configuration)) {
                let connect = try await broker.play { try $0.accept().open() }
                #expect(connect.clientID == "topic-1")
            }
        }
    }
}
