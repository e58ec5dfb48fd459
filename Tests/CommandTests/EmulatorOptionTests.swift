import Foundation
import KiiPushCore
import Testing

/// The emulator's options reach the cloud that it runs.
@Suite struct EmulatorOptionTests {
    private func settings(_ options: [String]) async throws -> JSONValue {
        let session = try EmulatorSession(options: options)
        let path = session.tool.home.appending(path: "run/kii-push/emulator.json")
        let file = try JSONValue(parsing: [UInt8](Data(contentsOf: path)))
        let base = try #require(file["baseURL"]?.string)
        let pair = try "\(#require(file["clientID"]?.string)):\(#require(file["clientSecret"]?.string))"
        let request = HTTPRequest(
            method: "GET", url: base.dropLast("api".count) + "__kii/app",
            fields: [HTTPField("Authorization", "Basic " + Data(pair.utf8).base64EncodedString())])
        let answer = try await EventLoop().perform(request)
        return try JSONValue(parsing: answer.body)
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
