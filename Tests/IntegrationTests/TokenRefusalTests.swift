import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct TokenRefusalTests {
    private func agent(_ emulator: Emulator, _ runtime: PushRuntime) -> PushAgent {
        PushAgent(
            runtime: runtime, configuration: .init(app: emulator.app, account: .pseudoUser),
            handler: RecordingHandler(), reconnect: .quick)
    }

    private func refuse(
        _ emulator: Emulator, _ method: String, _ path: String, _ status: Int, _ code: String, times: Int
    ) async throws {
        try await emulator.control(
            "POST", "faults",
            [
                "method": JSONValue(method), "path": JSONValue(path), "times": JSONValue(times),
                "status": JSONValue(status), "errorCode": JSONValue(code),
            ])
    }

    /// The cloud refuses the token at the request for the endpoint, and then refuses its refresh once. The next refresh
    /// succeeds.
    @Test(arguments: [(401, "UNAUTHORIZED"), (403, "WRONG_REFRESH_TOKEN"), (403, "FORBIDDEN")])
    func oneRefusalOfTheRefreshDoesNotEndTheRun(status: Int, code: String) async throws {
        let answer = FakeCloud.Answer(status: status, body: #"{"errorCode":"\#(code)"}"#)
        try await RefusedAgent.with(.pseudoUser, answer, times: 1) { refused in
            try await refused.runUntilItReceives()
            #expect(refused.requests == 2)
        }
    }

    /// Refusals of a token that cannot be refreshed: once by the cloud, or twice in a way that says nothing about the
    /// token, such as a firewall's.
    @Test(arguments: [(401, "UNAUTHORIZED", 1), (403, "FORBIDDEN", 2)])
    func aFewRefusalsDoNotEndTheRun(status: Int, code: String, times: Int) async throws {
        try await withEmulator { emulator, directory in
            try await emulator.control("PATCH", "app", ["mqttTTL": 1])
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            let first = try await agent.register()
            try await self.refuse(
                emulator, "GET", "/api/apps/*/installations/*/mqtt-endpoint", status, code, times: times)
            let events = agent.events
            try await whileRunning(agent) {
                let event = await firstEvent(events) {
                    if case .registered(let now) = $0 { now.mqttTopic != first.mqttTopic } else { false }
                }
                #expect(event != nil)
            }
            await runtime.shutdown()
        }
    }

    @Test func refusalsThatGoOnEndTheRun() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            try await agent.register()
            try change("endpointExpiresAt", to: 0, in: "\(directory)/agent/agents/default.json")
            try await self.refuse(
                emulator, "GET", "/api/apps/*/installations/*/mqtt-endpoint", 401, "UNAUTHORIZED", times: 1000)
            try await self.refuse(emulator, "POST", "/api/apps/*/oauth2/token", 401, "UNAUTHORIZED", times: 1000)
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .pseudoUserLost = error else { throw TestFailure("\(String(describing: error))") }
            await runtime.shutdown()
        }
    }
}
