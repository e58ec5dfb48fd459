import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct EndpointPortTests {
    /// Changes the ports of the endpoint on file; `nil` removes a port.
    private func setPorts(_ ports: [(String, Int?)], in directory: String) throws {
        let file = "\(directory)/agents/default.json"
        let state = try JSONValue(parsing: try #require(try PrivateFile.read(file)))
        var members = (state.members ?? []).filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
        var endpoint = (state["endpoint"]?.members ?? []).map { ($0.key, $0.value) }
        endpoint.removeAll { member in ports.contains { $0.0 == member.0 } }
        for case let (key, port?) in ports { endpoint.append((key, JSONValue(port))) }
        members.append(("endpoint", .object(endpoint)))
        try PrivateFile.replace(file, with: JSONValue.object(members).serialized())
    }

    /// The file may be out of date, so the agent requests the endpoint again and gets the port.
    @Test func aPortThatTheFileLacksIsAskedFor() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = PushAgent(
                runtime: runtime, configuration: .init(app: emulator.app, account: .pseudoUser),
                handler: RecordingHandler(), reconnect: .quick)
            try await agent.register()
            try self.setPorts([("portSSL", nil), ("portWSS", nil)], in: "\(directory)/agent")
            #expect(try agent.registration()?.portSSL == nil)
            let events = agent.events
            try await whileRunning(agent) {
                let connected = await firstEvent(events) { if case .connected = $0 { true } else { false } }
                guard case .connected(let connection) = connected else { throw TestFailure("not connected") }
                #expect(connection.usesTLS && connection.isVerified)
            }
            #expect(try agent.registration()?.portSSL == emulator.mqttTLSPort)
            await runtime.shutdown()
        }
    }

    /// The cloud's answer has no usable port either, so the run ends. The error says which setting to change.
    @Test(arguments: [true, false])
    func anEndpointWithoutThePortEndsTheRun(usesTLS: Bool) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var configuration = configuration
            configuration.usesTLS = usesTLS
            let directory = runtime.configuration.stateDirectory
            let endpoint =
                #"{"username":"n","password":"p","mqttTopic":"topic-1","host":"127.0.0.1","#
                + (usesTLS ? #""portTCP":1883,"portSSL":0}"# : #""portSSL":8883}"#)
            let cloud = try FakeCloud { _ in .init(status: 200, body: endpoint) }
            configuration.app = AgentStateFixture.app(at: cloud.baseURL)
            try self.setPorts(
                [(usesTLS ? "portSSL" : "portTCP", nil), (usesTLS ? "portTCP" : "portSSL", 1)], in: directory)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .noUsablePort(usesTLS, usesWebSocket: false) = error else {
                throw TestFailure("\(String(describing: error))")
            }
            #expect(error?.description.contains(usesTLS ? "no TLS port" : "no plain TCP port") == true)
            #expect(cloud.requests.count == 1)
        }
    }
}
