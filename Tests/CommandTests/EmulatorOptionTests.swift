import KiiPushCore
import Testing

/// The emulator's options reach the cloud that it runs.
@Suite struct EmulatorOptionTests {
    private func settings(_ options: [String]) async throws -> JSONValue {
        let session = try EmulatorSession(options: options)
        return try await session.control("GET", "app")
    }

    @Test func everythingLastsByDefault() async throws {
        let settings = try await self.settings([])
        #expect(settings["endpointDelay"] == 0)
        #expect(settings["mqttTTL"] == .null)
        #expect(settings["tokenLifetime"] == .null)
        #expect(settings["refreshTokens"] == true)
    }

    @Test func timesAndRefreshTokensAreSet() async throws {
        let settings = try await self.settings([
            "--endpoint-delay", "2s", "--mqtt-ttl", "1h", "--token-lifetime", "10m", "--no-refresh-tokens",
        ])
        #expect(settings["endpointDelay"] == 2)
        #expect(settings["mqttTTL"] == 3600)
        #expect(settings["tokenLifetime"] == 600)
        #expect(settings["refreshTokens"] == false)
    }
}
