import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A cloud that refuses a pseudo user's token, and then takes it again.
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

    /// The endpoint is asked for, the token is refused, and so is its refresh; the next time the refresh token is taken.
    @Test(arguments: [(401, "UNAUTHORIZED"), (403, "WRONG_REFRESH_TOKEN"), (403, "FORBIDDEN")])
    func oneRefusalOfTheRefreshDoesNotEndTheRun(status: Int, code: String) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
            try change("refreshToken", to: "r0", in: file)
            try change("endpointExpiresAt", to: 0, in: file)
            let refreshes = Locked(0)
            let endpoint =
                #"{"username":"name","password":"another","mqttTopic":"topic-2","host":"127.0.0.1","portTCP":"#
                + "\(broker.port)}"
            let cloud = try FakeCloud { request in
                if request.path.hasSuffix("/oauth2/token") {
                    let count = refreshes.withLock { refreshes in
                        refreshes += 1
                        return refreshes
                    }
                    return count == 1
                        ? .init(status: status, body: #"{"errorCode":"\#(code)"}"#)
                        : .init(status: 200, body: #"{"id":"u-1","access_token":"t1"}"#)
                }
                return refreshes.withLock { $0 } < 2
                    ? .init(status: 401, body: #"{"errorCode":"UNAUTHORIZED"}"#) : .init(status: 200, body: endpoint)
            }
            var configuration = configuration
            configuration.app = KiiApp(appID: "app", appKey: "key", baseURL: cloud.baseURL)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            async let kept = broker.play { broker in
                // The first may end before it is open, when the cloud names the other topic.
                let first = try broker.accept()
                _ = try? first.open(sessionPresent: true)
                return [first, try broker.acceptSession()]
            }
            try await whileRunning(agent) {
                _ = await firstEvent(events) {
                    if case .registered(let now) = $0 { now.mqttTopic == "topic-2" } else { false }
                }
                _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
            }
            #expect(refreshes.withLock { $0 } == 2)
            withExtendedLifetime(try await kept) {}
        }
    }

    /// Of a token without refresh; and twice what is no word about the token: a firewall's, say.
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
                _ = await firstEvent(events) {
                    if case .registered(let now) = $0 { now.mqttTopic != first.mqttTopic } else { false }
                }
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
