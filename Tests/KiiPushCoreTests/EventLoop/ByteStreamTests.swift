import Dispatch
import Foundation
import KiiPushCore
import SeededNumbers
import TestSupport
import Testing

@Suite struct ByteStreamTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

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
        // Sent before the stream is connected, so the stream keeps the bytes until then.
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

    @Test func carriesAMebibyteInAnySplit() async throws {
        let server = try self.echoServer()
        defer { server.stop() }
        var random = SeededGenerator(seed: 3)
        let bytes = (0..<(1 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        var start = 0
        while start < bytes.count {
            let size = random.next() % 8 == 0 ? Int(random.next() % 60_000) + 1 : Int(random.next() % 300) + 1
            let end = min(bytes.count, start + size)
            probe.use { [piece = Array(bytes[start..<end])] in $0.send(piece) }
            start = end
        }
        await probe.connected()
        #expect(await probe.bytes(bytes.count) == bytes)
    }

    @Test func refusedPortClosesTheStream() async throws {
        let port = try LoopbackServer.refusedPort()
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: port))
        #expect(await probe.closed()?.code == .connectionRefused)
    }

    @Test func missingUnixSocketClosesTheStream() async throws {
        var probe = try await StreamProbe(self.loop, .unix(path: "/nonexistent/socket"))
        let error = await probe.closed()
        #expect(error?.code == .connectionRefused)
        #expect(error?.detail.contains("/nonexistent/socket") == true)
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

    @Test func keepsWhatASlowPeerDoesNotTake() async throws {
        let count = 16 << 20
        let gate = DispatchSemaphore(value: 0)
        let received = Locked<[UInt8]>([])
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            // The client fills the kernel's buffers before the first read.
            gate.wait()
            received.withLock { [bytes = connection.readExactly(count)] in $0 = bytes }
            finish.finish()
        }
        defer { server.stop() }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        await probe.connected()
        for start in stride(from: 0, to: count, by: count / 4) {
            probe.use { $0.send(Array(bytes[start..<(start + count / 4)])) }
        }
        try await self.loop.run {}
        let queued = try await self.loop.run { [stream = probe.stream] in stream.value.unsentBytes }
        #expect(queued > 0)
        gate.signal()
        for await _ in done {}
        #expect(received.withLock { $0 } == bytes)
        let unsent = try await self.loop.run { [stream = probe.stream] in stream.value.unsentBytes }
        #expect(unsent == 0)
    }

    @Test func peerThatDoesNotReadLeavesBytesUnsent() async throws {
        let server = try LoopbackServer { connection in
            connection.write("hello")
            connection.waitForStop()
        }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        await probe.connected()
        #expect(await probe.text(5) == "hello")
        probe.use { $0.send([UInt8](repeating: 1, count: 16 << 20)) }
        try await self.loop.run {}
        let unsent = try await self.loop.run { [stream = probe.stream] in stream.value.unsentBytes }
        #expect(unsent > 0)
        #expect(unsent < 16 << 20)
        server.stop()
        #expect(await probe.closed()?.code == .connectionLost)
    }

    @Test func sendsOnceATurnAndOnlyAfterTheCommit() async throws {
        let reads = Locked<[String]>([])
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            connection.write("bytes")
            let text = String(decoding: connection.read(), as: UTF8.self)
            reads.withLock { $0.append(text) }
            finish.finish()
        }
        defer { server.stop() }
        let log = Locked<[String]>([])
        let loop = self.loop
        let probe = try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, event in
            guard case .received(let bytes) = event else { return }
            log.withLock { $0 = [String(decoding: bytes, as: UTF8.self)] }
            stream.send(Array("first ".utf8))
            let unsent = stream.unsentBytes
            loop.setTurnDelegate(
                TurnLog(log) {
                    #expect(stream.unsentBytes == unsent)
                    stream.send(Array("second".utf8))
                    loop.setTurnDelegate(nil)
                })
        }
        for await _ in done {}
        #expect(log.withLock { $0 } == ["bytes", "commit", "afterCommit"])
        #expect(reads.withLock { $0 } == ["first second"])
        _ = probe
    }

    @Test func handsOverNoMoreInATurnThanTheLimit() async throws {
        let loop = try EventLoop(configuration: .init(drainBytes: 100_000, connectTimeout: .seconds(600)))
        let count = 8 << 20
        let server = try LoopbackServer { $0.write([UInt8](repeating: 5, count: count)) }
        defer { server.stop() }
        let perTurn = Locked<[Int]>([0])
        let log = Locked<[String]>([])
        try await loop.run {
            loop.setTurnDelegate(TurnLog(log) { perTurn.withLock { $0.append(0) } })
        }
        var probe = try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: server.port)) { _, event in
            guard case .received(let bytes) = event else { return }
            perTurn.withLock { $0[$0.count - 1] += bytes.count }
        }
        #expect(await probe.closed()?.code == .connectionLost)
        let turns = perTurn.withLock { $0 }
        #expect(turns.reduce(0, +) == count)
        // The last read of a turn may exceed the limit by one buffer.
        #expect(turns.allSatisfy { $0 < 100_000 + 64 << 10 })
    }
}
