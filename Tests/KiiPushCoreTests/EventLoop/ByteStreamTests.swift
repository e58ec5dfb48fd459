import Foundation
import KiiPushCore
import Testing

@Suite(.timeLimit(.minutes(2))) struct ByteStreamTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop() }

    private func echoServer(unixPath: String? = nil) throws -> LoopbackServer {
        try LoopbackServer(unixPath: unixPath) { connection in
            while true {
                let bytes = connection.read()
                guard !bytes.isEmpty, connection.write(bytes) else { return }
            }
        }
    }

    @Test func carriesBytesBothWays() async throws {
        let server = try self.echoServer()
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        // Before the connection stands: kept.
        probe.send("early ")
        await probe.connected()
        probe.send("bird")
        #expect(await probe.text(10) == "early bird")
    }

    @Test func carriesBytesOverAUnixSocket() async throws {
        let path = NSTemporaryDirectory() + "loop-\(UUID().uuidString).sock"
        let server = try self.echoServer(unixPath: path)
        defer {
            server.stop()
            unlink(path)
        }
        var probe = try await StreamProbe(self.loop, .unix(path: path))
        await probe.connected()
        probe.send("local")
        #expect(await probe.text(5) == "local")
    }

    @Test func refusedPortClosesTheStream() async throws {
        let port = try LoopbackServer.refusedPort()
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: port))
        #expect(await probe.closed()?.code == .connectionRefused)
    }

    @Test(arguments: [true, false])
    func peerThatEndsIsConnectionLost(isReset: Bool) async throws {
        let server = try LoopbackServer { connection in
            connection.write("last words")
            _ = connection.read()
            if isReset { connection.reset() }
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        await probe.connected()
        #expect(await probe.text(10) == "last words")
        probe.send("go")
        #expect(await probe.closed()?.code == .connectionLost)
    }

    @Test(arguments: ["", "a/b", "user@host", "a b", "a]"])
    func refusesAHostThatIsNone(_ host: String) async throws {
        var probe = try await StreamProbe(self.loop, .tcp(host: host, port: 1))
        #expect(await probe.closed()?.code == .invalidConfiguration)
    }
}
