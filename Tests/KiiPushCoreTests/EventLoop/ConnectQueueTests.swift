import Glibc
import TestSupport
import Testing

@testable import KiiPushCore

/// The peer accepts connections but never answers a TLS handshake, so its streams connect for as long as the test
/// wants.
@Suite struct ConnectQueueTests {
    private final class Peer {
        let descriptor: Int32
        let port: UInt16
        private var accepted: [Int32] = []

        /// - Parameter backlog: With 0 the kernel completes one connection that the test does not accept, and drops all
        ///   others.
        init(backlog: Int32 = 1024) throws {
            (self.descriptor, self.port) = try Loopback.bound()
            try #require(listen(self.descriptor, backlog) == 0)
        }

        deinit { for descriptor in self.accepted + [self.descriptor] { close(descriptor) } }

        var target: StreamTarget { .tls(host: "127.0.0.1", port: self.port) }

        func accept() async throws {
            let listener = self.descriptor
            self.accepted.append(try await onThread { Glibc.accept(listener, nil, nil) })
        }

        func acceptAll() -> Int {
            var count = 0
            var request = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&request, 1, 0) > 0 {
                self.accepted.append(Glibc.accept(self.descriptor, nil, nil))
                count += 1
            }
            return count
        }

        func hangUp() { close(self.accepted.removeFirst()) }
    }

    private func loop(_ limit: Int, connectTimeout: Duration = .seconds(600)) throws -> EventLoop {
        var configuration = EventLoop.Configuration(connectTimeout: connectTimeout)
        configuration.maximumConnectsPerTarget = limit
        return try EventLoop(configuration: configuration)
    }

    /// Waits until the loop has begun all connections that it may begin. A connection to another peer takes the loop
    /// several turns.
    private func connectElsewhere(_ loop: EventLoop) async throws {
        let other = try Peer()
        var probe = try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: other.port))
        await probe.connected()
        probe.use { $0.close() }
    }

    /// Opens streams in one turn, so that all of them wait or connect before any timeout starts.
    private func openAtOnce(
        _ count: Int, _ target: StreamTarget, in loop: EventLoop,
        onEvent: @escaping @Sendable (Int, StreamEvent) -> Void = { _, _ in }
    ) async throws -> [AsyncStream<StreamEvent>] {
        try await loop.run {
            (0..<count).map { number in
                let (events, continuation) = AsyncStream.makeStream(of: StreamEvent.self, bufferingPolicy: .unbounded)
                _ = loop.openStream(target, delegate: StreamReporter(continuation) { onEvent(number, $1) })
                return events
            }
        }
    }

    @Test(arguments: [1, 2]) func noMoreThanTheLimitConnectAndTheOthersFollowInTheirOrder(limit: Int) async throws {
        let (loop, peer) = (try self.loop(limit), try Peer())
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        _ = try await self.openAtOnce(5, peer.target, in: loop) { number, event in
            if case .closed = event { end.yield(number) }
        }
        try await self.connectElsewhere(loop)
        try #require(peer.acceptAll() == limit)
        var (iterator, ended) = (ends.makeAsyncIterator(), [Int]())
        for count in 0..<5 {
            peer.hangUp()
            // The broken handshake fails the stream. The peer may have accepted simultaneous connections in any order.
            let number = try #require(await iterator.next())
            #expect(number < count + limit)
            ended.append(number)
            guard count + limit < 5 else { continue }
            try await peer.accept()
            try await self.connectElsewhere(loop)
            try #require(peer.acceptAll() == 0)
        }
        #expect(ended.sorted() == Array(0..<5))
        loop.shutdown()
    }

    @Test func whoLeavesWhileItWaitsIsPassedOver() async throws {
        let (loop, peer) = (try self.loop(1), try Peer())
        var first = try await StreamProbe(loop, peer.target)
        let second = try await StreamProbe(loop, peer.target)
        var third = try await StreamProbe(loop, peer.target)
        second.use { $0.close() }
        try await peer.accept()
        peer.hangUp()
        #expect(await first.closed() != nil)
        try await peer.accept()
        peer.hangUp()
        #expect(await third.closed() != nil)
        #expect(peer.acceptAll() == 0)
        loop.shutdown()
    }

    @Test func whoHasConnectedMakesRoom() async throws {
        let (loop, peer) = (try self.loop(1), try Peer())
        var probes: [StreamProbe] = []
        for _ in 0..<3 { probes.append(try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: peer.port))) }
        for index in probes.indices { await probes[index].connected() }
        loop.shutdown()
    }

    @Test func whoLeavesWhileItConnectsMakesRoom() async throws {
        let (loop, peer) = (try self.loop(1), try Peer())
        let first = try await StreamProbe(loop, peer.target)
        let second = try await StreamProbe(loop, peer.target)
        try await peer.accept()
        first.use { $0.close() }
        try await peer.accept()
        #expect(peer.acceptAll() == 0)
        second.use { $0.close() }
        loop.shutdown()
    }

    @Test func oneThatCannotEvenBeginMakesRoom() async throws {
        let loop = try self.loop(1)
        for _ in 0..<3 {
            var probe = try await StreamProbe(loop, .tcp(host: "not a host", port: 1))
            #expect(await probe.closed()?.code == .invalidConfiguration)
        }
        loop.shutdown()
    }

    @Test func whereNobodyAnswersNoneThatWaitsTriesInVain() async throws {
        let (loop, peer) = (try self.loop(1, connectTimeout: .seconds(1)), try Peer())
        let streams = try await self.openAtOnce(4, peer.target, in: loop)
        for events in streams {
            guard case .closed(let error)? = await events.first(where: { _ in true }) else {
                Issue.record("the stream was not closed")
                return
            }
            #expect(error.code == .timedOut)
        }
        // The peer sees no connection if the process was suspended for the whole timeout of the first stream.
        #expect(peer.acceptAll() <= 1)
        // Later streams find a free place.
        repeat {
            var late = try await StreamProbe(loop, peer.target)
            #expect(await late.closed()?.code == .timedOut)
        } while peer.acceptAll() == 0
        loop.shutdown()
    }

    @Test func whereSomebodyGotThroughMeanwhileTheNextOneTries() async throws {
        let timeout = Duration.seconds(1)
        let loop = try self.loop(2, connectTimeout: timeout)
        var (ends, streams) = (Locked<[Int: MonotonicInstant]>([:]), [AsyncStream<StreamEvent>]())
        var (peers, hasConnected) = ([Peer](), false)
        // Repeats the test if the process was suspended for the whole timeout of the first stream.
        while !hasConnected {
            peers.append(try Peer(backlog: 0))
            ends = Locked([:])
            let target = StreamTarget.tcp(host: "127.0.0.1", port: peers[peers.count - 1].port)
            streams = try await self.openAtOnce(4, target, in: loop) { [ends] number, event in
                if case .closed = event { ends.withLock { $0[number] = loop.now } }
            }
            // The first stream connects, and the third takes its place. The kernel answers no other stream.
            if case .connected? = await streams[0].first(where: { _ in true }) { hasConnected = true }
        }
        for events in streams[1...] {
            guard case .closed(let error)? = await events.first(where: { _ in true }) else {
                Issue.record("a stream was not closed")
                return
            }
            #expect(error.code == .timedOut)
        }
        // The fourth stream began when the second failed, and had its own full timeout.
        let (second, fourth) = (try #require(ends.withLock { $0[1] }), try #require(ends.withLock { $0[3] }))
        #expect(fourth - second > timeout * 0.9)
        loop.shutdown()
    }

    @Test func thoseThatWaitEndWithTheLoop() async throws {
        let (loop, peer) = (try self.loop(1), try Peer())
        var first = try await StreamProbe(loop, peer.target)
        var second = try await StreamProbe(loop, peer.target)
        try await peer.accept()
        loop.shutdown()
        #expect(await first.closed()?.code == .shutDown)
        #expect(await second.closed()?.code == .shutDown)
        #expect(peer.acceptAll() == 0)
    }
}

@Suite struct TrustedCertificatesTests {
    @Test(
        arguments: [
            ("a.pem", nil, true), ("a.pem", "/readable", true), (nil, "/readable", true), (nil, "/gone", false),
            (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func theFolderIsLeftOutWhereAFileHasAll(_ caFile: String?, _ builtIn: String?, _ isLeftOut: Bool) {
        let trustsFileAlone = ConnectionOptions.trustsFileAlone(caFile: caFile, builtIn: builtIn) { $0 == "/readable" }
        #expect(trustsFileAlone == isLeftOut)
    }
}
