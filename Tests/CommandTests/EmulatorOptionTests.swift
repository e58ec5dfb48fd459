import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// The emulator's options reach the cloud that it runs.
@Suite(.timeLimit(.minutes(15))) struct EmulatorOptionTests {
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

    @Test(arguments: [[], ["--strict"]])
    func strictRefusesAnAppKeyThatIsWrong(options: [String]) async throws {
        let session = try EmulatorSession(options: options)
        let file = try session.runtimeFile()
        let app = KiiApp(
            appID: try #require(file["appID"]?.string), appKey: "wrong",
            baseURL: try #require(file["baseURL"]?.string))
        let client = KiiClient(app: app, transport: try EventLoop())
        if options.isEmpty {
            _ = try await client.registerPseudoUser()
        } else {
            let error = await #expect(throws: KiiError.self) { try await client.registerPseudoUser() }
            #expect(error?.status == 401)
        }
    }

    @Test(arguments: [
        ("--port", "baseURL"), ("--https-port", "httpsBaseURL"), ("--mqtt-port", "mqttPort"),
        ("--mqtts-port", "mqttTLSPort"),
    ])
    func portsAreTheOnesAskedFor(option: String, member: String) async throws {
        let port = try freePort()
        let session = try EmulatorSession(options: [option, "\(port)"])
        let value = try #require(try session.runtimeFile()[member])
        let shown = value.int64 ?? value.string.flatMap { URL(string: $0)?.port }.map { Int64($0) }
        #expect(shown == Int64(port))
        #expect(!isFree(port))
        // Who asks for it as well is told.
        let other = try Tool()("emulator", option, "\(port)")
        #expect(other.exit == 75)
        #expect(other.error.hasPrefix("kii-push: port \(port) of 127.0.0.1 is taken; "))
    }
}

/// A port of 127.0.0.1 where nobody listens, out of those that nobody is given who does not ask for one.
private func freePort() throws -> UInt16 {
    for _ in 0..<100 {
        let port = UInt16.random(in: 5000..<10_000)
        if isFree(port) { return port }
    }
    throw TestFailure("no port is free")
}

private func isFree(_ port: UInt16) -> Bool {
    guard let socket = try? Loopback.bound(to: port) else { return false }
    close(socket.descriptor)
    return true
}
