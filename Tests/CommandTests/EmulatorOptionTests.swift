import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct EmulatorOptionTests {
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

    @Test func itsStateAndItsPortsAreThoseOfTheLastTime() throws {
        let session = try EmulatorSession(keepsState: true)
        try session.succeed("register")
        let before = try session.runtimeFile()
        #expect(before["caFile"]?.string?.hasPrefix(session.tool.home.path + "/state/kii-push/emulator/") == true)
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        try session.restart()
        let after = try session.runtimeFile()
        #expect(after["clientID"] == before["clientID"])
        for member in ["mqttPort", "mqttTLSPort"] {
            let port = try #require(before[member]?.int64.flatMap { UInt16(exactly: $0) })
            // Another process may have taken the port meanwhile.
            #expect(after[member] == before[member] || !isFree(port))
        }
        let result = try session.tool("listen", "-n1", "-t5m")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("n=1"))
        let contradiction = try session.tool("emulator", "--temporary", "--directory", "x")
        #expect(contradiction.exit == 64)
    }

    @Test func itsUsualPortsAreAlwaysTheSameAndGiveWayToWhoHasThem() throws {
        // Takes every usual port that is free, so that the emulator has to use others.
        let usual: [UInt16] = [17643, 17680, 17683, 17684, 17685, 17686]
        let held = usual.compactMap { port in try? Loopback.bound(to: port) }
        defer { for socket in held { close(socket.descriptor) } }
        // Another process may release the other ports at any time.
        let ports = held.map(\.port)
        let tool = try Tool()
        let emulator = try tool.start(["emulator"])
        let text = emulator.output(containing: "emulator.json\n")
        #expect(text.hasPrefix("> Ready. http://127.0.0.1:"), "\(emulator.error(containing: "\n"))")
        for port in ports { #expect(!text.contains(":\(port)")) }
        emulator.signal(SIGTERM)
        #expect(emulator.waitForExit().exit == 0)
        let help = try tool("emulator", "--help").output
        for port in ["17680", "17643", "17683", "17684", "17685", "17686"] {
            #expect(help.contains(try Regex("Default:\\s+\(port)\\.")))
        }
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
        let client = KiiClient(app: app, transport: try EventLoop.patient(), timeout: .seconds(600))
        if options.isEmpty {
            _ = try await client.registerPseudoUser()
        } else {
            let error = await #expect(throws: KiiError.self) { try await client.registerPseudoUser() }
            #expect(error?.status == 401)
        }
    }

    @Test(arguments: [
        ("--port", "baseURL"), ("--https-port", "httpsBaseURL"), ("--mqtt-port", "mqttPort"),
        ("--mqtts-port", "mqttTLSPort"), ("--ws-port", "webSocketPort"), ("--wss-port", "webSocketTLSPort"),
    ])
    func portsAreTheOnesAskedFor(option: String, member: String) async throws {
        let port = try freePort()
        let session = try EmulatorSession(options: [option, "\(port)"])
        let value = try #require(try session.runtimeFile()[member])
        let shown = value.int64 ?? value.string.flatMap { URL(string: $0)?.port }.map { Int64($0) }
        #expect(shown == Int64(port))
        #expect(!isFree(port))
        // A second emulator on the same port fails.
        let elsewhere = try Tool()
        let other = try elsewhere.start(
            ["emulator", option, "\(port)"] + EmulatorSession.freePorts(besides: [option])
        ).waitForExit()
        #expect(other.exit == 75)
        #expect(other.error.hasPrefix("kii-push-emulator: port \(port) of 127.0.0.1 is taken; "))
    }
}

private let usedPorts = Locked<Set<UInt16>>([])

/// A free port of 127.0.0.1 outside the range that the system assigns by itself. No other test gets it.
private func freePort() throws -> UInt16 {
    for _ in 0..<100 {
        let port = UInt16.random(in: 5000..<10_000)
        if usedPorts.withLock({ $0.insert(port).inserted }), isFree(port) { return port }
    }
    throw TestFailure("no port is free")
}

private func isFree(_ port: UInt16) -> Bool {
    guard let socket = try? Loopback.bound(to: port) else { return false }
    close(socket.descriptor)
    return true
}
