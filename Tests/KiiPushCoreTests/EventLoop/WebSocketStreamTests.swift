import KiiPushCore
import SeededNumbers
import TestSupport
import Testing

@Suite struct WebSocketStreamTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    private static func target(_ server: LoopbackServer) -> StreamTarget {
        .webSocket(host: "127.0.0.1", port: server.port, usesTLS: false)
    }

    private static func accept(_ connection: LoopbackConnection) -> Bool {
        var handshake = WebSocketServerHandshake()
        while true {
            let bytes = connection.read()
            guard !bytes.isEmpty else { return false }
            if case .opened(let answer, _) = bytes.withUnsafeBytes({ handshake.read($0) }) {
                return connection.write(answer)
            }
        }
    }

    /// The next bytes from the client's frames; `nil` after its end.
    private static func receive(_ connection: LoopbackConnection, _ decoder: inout WebSocketDecoder) -> [UInt8]? {
        var bytes = connection.read()
        guard !bytes.isEmpty else { return nil }
        return bytes.withUnsafeMutableBytes { Array(decoder.decode($0)) }
    }

    @Test func carriesBytesBothWaysHoweverTheyAreFramed() async throws {
        let server = try LoopbackServer { connection in
            guard Self.accept(connection) else { return }
            var decoder = WebSocketDecoder(role: .server)
            var random = SeededGenerator(seed: 7)
            while decoder.end == nil, let bytes = Self.receive(connection, &decoder) {
                var start = 0
                var answer: [UInt8] = []
                while start < bytes.count {
                    let end = min(bytes.count, start + 1 + Int(random.next() % 70_000))
                    if random.next() % 3 == 0 { WebSocketFrame.append(.ping, [1], mask: nil, to: &answer) }
                    WebSocketFrame.append(.binary, Array(bytes[start..<end]), mask: nil, to: &answer)
                    start = end
                }
                guard connection.write(answer) else { return }
            }
        }
        defer { server.stop() }
        var random = SeededGenerator(seed: 3)
        let bytes = (0..<(1 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var probe = try await StreamProbe(self.loop, Self.target(server))
        // Sent before the WebSocket is open, so the stream keeps these bytes until then.
        probe.use { [piece = Array(bytes[..<5])] in $0.send(piece) }
        await probe.connected()
        var start = 5
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + Int(random.next() % 60_000))
            probe.use { [piece = Array(bytes[start..<end])] in $0.send(piece) }
            start = end
        }
        #expect(await probe.bytes(bytes.count) == bytes)
    }

    @Test func answersAPingAndSaysGoodbye() async throws {
        let (frames, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let server = try LoopbackServer { connection in
            guard Self.accept(connection) else { return }
            connection.write([0x89, 3, 7, 8, 9, 0x82, 1, 5])
            for size in [3, 2] {
                var frame = connection.readExactly(6 + size)
                // Keeps the frame's header and its unmasked payload.
                for index in 0..<size { frame[6 + index] ^= frame[2 + index % 4] }
                continuation.yield(Array(frame[..<2] + frame[6...]))
            }
            connection.finish()
            continuation.finish()
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, Self.target(server))
        await probe.connected()
        #expect(await probe.bytes(1) == [5])
        probe.use { $0.closeAfterFlush() }
        var received: [[UInt8]] = []
        for await frame in frames { received.append(frame) }
        #expect(received == [[0x8A, 0x83, 7, 8, 9], [0x88, 0x82, 0x03, 0xE8]])
    }

    @Test func anEndByTheServerIsAnsweredAndNamed() async throws {
        let (frames, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let server = try LoopbackServer { connection in
            guard Self.accept(connection) else { return }
            connection.write([0x82, 1, 5, 0x88, 2, 0x03, 0xF4])
            continuation.yield(Array(connection.readExactly(8)[..<2]))
            continuation.finish()
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, Self.target(server))
        await probe.connected()
        #expect(await probe.bytes(1) == [5])
        let error = await probe.closed()
        #expect(error?.code == .connectionLost)
        #expect(error?.detail == "the server closed the WebSocket with code 1012, it restarts")
        for await frame in frames { #expect(frame == [0x88, 0x82]) }
    }

    @Test func anUpgradeThatNeverEndsIsGivenUp() async throws {
        let server = try LoopbackServer { connection in
            connection.write(Array("HTTP/1.1 101 ".utf8))
            while !connection.read().isEmpty {}
        }
        defer { server.stop() }
        let loop = try EventLoop(configuration: .init(connectTimeout: .milliseconds(200)))
        defer { loop.shutdown() }
        var probe = try await StreamProbe(loop, Self.target(server))
        let error = await probe.closed()
        // On a busy machine, even the TCP connection may take too long.
        #expect(error?.code == .timedOut)
    }

    @Test func aServerThatHangsUpIsNamed() async throws {
        let server = try LoopbackServer { connection in _ = connection.read() }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, Self.target(server))
        let error = await probe.closed()
        #expect(error?.code == .connectionLost)
        #expect(error?.detail.hasPrefix("no answer to the WebSocket upgrade: ") == true)
    }
}
