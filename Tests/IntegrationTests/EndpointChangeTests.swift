import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct EndpointChangeTests {
    private func agent(_ emulator: Emulator, _ runtime: PushRuntime, _ handler: RecordingHandler) -> PushAgent {
        let configuration = PushAgent.Configuration(app: emulator.app, account: .pseudoUser)
        return PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
    }

    @Test func anAgentFollowsItsInstallationToAnotherTopic() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = self.agent(emulator, runtime, handler)
            let registration = try await agent.register()
            let admin = try await emulator.adminToken(agent.client)
            let events = agent.events
            let call = try await whileRunning(agent) {
                var isRotated = false
                for await event in events {
                    guard case .connected = event else { continue }
                    if isRotated { break }
                    try await emulator.control("POST", "installations/\(registration.installationID)/rotate")
                    isRotated = true
                }
                _ = try await agent.client.session(admin).send(
                    PushMessage(data: ["n": 1]), to: .user(registration.principal.id))
                return await handler.next(1).first
            }
            #expect(call?.message.rawPayload["n"]?.int64 == 1)
            await runtime.shutdown()
        }
    }

    @Test func anAgentAsksForAnotherEndpointWhenTheTimeOfItsOwnIsUp() async throws {
        try await withEmulator { emulator, directory in
            try await emulator.control("PATCH", "app", ["mqttTTL": 1])
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, RecordingHandler())
            let first = try await agent.register()
            let events = agent.events
            try await whileRunning(agent) {
                // The broker does not know the endpoint's lifetime, so the connection stays open.
                _ = await firstEvent(events) {
                    if case .registered(let now) = $0 { now.mqttTopic != first.mqttTopic } else { false }
                }
                _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
            }
            #expect(try agent.registration()?.installationID == first.installationID)
            await runtime.shutdown()
        }
    }

    @Test func anEndpointOnFileWhoseTimeIsUpIsNotTried() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, RecordingHandler())
            try await agent.register()
            let path = "\(directory)/agent/agents/default.json"
            try change("endpointExpiresAt", to: 0, in: path)
            try await emulator.control("POST", "installations/\(#require(agent.registration()).installationID)/rotate")
            let events = agent.events
            try await whileRunning(agent) {
                let first = await firstEvent(events) {
                    switch $0 {
                    case .connected, .disconnected: true
                    default: false
                    }
                }
                guard case .connected = first else { throw TestFailure("\(String(describing: first))") }
            }
            await runtime.shutdown()
        }
    }

    @Test func theTokenThatAnotherProcessGotStaysOnFile() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, RecordingHandler())
            let first = try await agent.register()
            let path = "\(directory)/agent/agents/default.json"
            let events = agent.events
            try await whileRunning(agent) {
                _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
                try change("accessToken", to: "newer", in: path)
                try await emulator.control("POST", "installations/\(first.installationID)/rotate")
                _ = await firstEvent(events) {
                    if case .registered(let now) = $0 { now.mqttTopic != first.mqttTopic } else { false }
                }
            }
            let state = try JSONValue(parsing: #require(try PrivateFile.read(path)))
            #expect(state["accessToken"] == "newer")
            #expect(state["endpoint"]?["mqttTopic"]?.string != first.mqttTopic)
            await runtime.shutdown()
        }
    }

    @Test func anAgentWaitsForAnEndpointAndThenForAQuietCloud() async throws {
        try await withEmulator { emulator, directory in
            let faults: [JSONValue] = [
                [
                    "path": "/api/apps/*/installations", "status": 429, "errorCode": "TOO_MANY_REQUESTS",
                    "retryAfter": 1,
                ],
                [
                    "path": "/api/apps/*/installations/*/mqtt-endpoint", "status": 503,
                    "errorCode": "MQTT_ENDPOINT_NOT_READY", "retryAfter": 1,
                ],
            ]
            for fault in faults { try await emulator.control("POST", "faults", fault) }
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = self.agent(emulator, runtime, handler)
            let registration = try await agent.register()
            let admin = try await emulator.adminToken(agent.client)
            _ = try await agent.client.session(admin).send(
                PushMessage(data: ["n": 1]), to: .user(registration.principal.id))
            let calls = try await whileRunning(agent) { await handler.next(1) }
            #expect(calls.first?.message.rawPayload["n"]?.int64 == 1)
            #expect(try await emulator.control("GET", "faults")["faults"] == [])
            await runtime.shutdown()
        }
    }
}

func change(_ key: String, to value: JSONValue, in path: String) throws {
    let members = try JSONValue(parsing: #require(try PrivateFile.read(path))).members ?? []
    let others = members.filter { $0.key != key }.map { ($0.key, $0.value) }
    try PrivateFile.replace(path, with: JSONValue.object(others + [(key, value)]).serialized())
}
