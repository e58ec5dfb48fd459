import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct ByteStreamLifeTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    private func settle() async throws {
        for _ in 0..<20 { try await self.loop.run {} }
    }

    @Test func aPausedStreamHandsOverNothingUntilItIsResumed() async throws {
        let count = 4 << 20
        let server = try LoopbackServer { $0.write([UInt8](repeating: 9, count: count)) }
        defer { server.stop() }
        let received = Locked(0)
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, event in
            guard case .received(let bytes) = event else { return }
            if received.withLock({ $0 == 0 }) { stream.pauseReading() }
            received.withLock { $0 += bytes.count }
        }
        await probe.connected()
        let first = await probe.bytes(1)
        #expect(first == [9])
        let atPause = received.withLock { $0 }
        try await self.settle()
        #expect(received.withLock { $0 } == atPause)
        #expect(atPause < count)
        let isPaused = try await self.loop.run { [stream = probe.stream] in stream.value.isPaused }
        #expect(isPaused)
        probe.use { $0.resumeReading() }
        #expect(await probe.bytes(count - 1).count == count - 1)
        #expect(await probe.closed()?.code == .connectionLost)
    }

    @Test func aPeerThatClosesWhileReadingIsPausedIsReportedAfterItsLastBytes() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            connection.write("1")
            _ = connection.readExactly(1)
            connection.write("2")
            connection.shutdownWrite()
            end.finish()
            connection.waitForEnd()
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, event in
            if case .received = event { stream.pauseReading() }
        }
        await probe.connected()
        #expect(await probe.text(1) == "1")
        probe.send("x")
        for await _ in ended {}
        try await self.settle()
        let isClosed = try await self.loop.run { [stream = probe.stream] in stream.value.isClosed }
        #expect(!isClosed)
        probe.use { $0.resumeReading() }
        #expect(await probe.text(1) == "2")
        // The stream paused again after the second byte. All bytes are read now, so the stream reports its end.
        probe.use { $0.resumeReading() }
        #expect(await probe.closed()?.code == .connectionLost)
    }

    @Test func aPausedStreamNoticesThatItsPeerIsGone() async throws {
        let server = try LoopbackServer { connection in
            connection.write("1")
            _ = connection.readExactly(1)
            connection.reset()
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, event in
            if case .received = event { stream.pauseReading() }
        }
        await probe.connected()
        #expect(await probe.text(1) == "1")
        probe.send("x")
        #expect(await probe.closed()?.code == .connectionLost)
    }

    @Test(arguments: ["connected", "received"])
    func noDelegateCallFollowsACloseFromACallback(_ place: String) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            connection.write([UInt8](repeating: 1, count: 3_000_000))
            connection.waitForEnd()
            end.finish()
        }
        defer { server.stop() }
        let calls = Locked<[String]>([])
        let probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, event in
            let name = if case .connected = event { "connected" } else { "received" }
            calls.withLock { $0.append(name) }
            if name == place {
                stream.close()
                stream.close()
                stream.send([1])
                stream.resumeReading()
                #expect(stream.isClosed)
            }
        }
        for await _ in ended {}
        try await self.settle()
        #expect(calls.withLock { $0 } == (place == "connected" ? ["connected"] : ["connected", "received"]))
        _ = probe
    }

    @Test func closingWhileConnectingIsSilent() async throws {
        let server = try LoopbackServer { $0.waitForEnd() }
        defer { server.stop() }
        let calls = Locked(0)
        for _ in 0..<50 {
            let probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { _, _ in
                calls.withLock { $0 += 1 }
            }
            try await self.loop.run { [stream = probe.stream] in stream.value.close() }
        }
        // The stream may connect before `close` runs, but must report nothing afterwards.
        let before = calls.withLock { $0 }
        try await self.settle()
        #expect(calls.withLock { $0 } == before)
    }

    @Test func aStreamOpenedFromACloseCallbackWorks() async throws {
        let server = try LoopbackServer { connection in
            connection.write("hi")
        }
        defer { server.stop() }
        let loop = self.loop
        let target = StreamTarget.tcp(host: "127.0.0.1", port: server.port)
        let (events, event) = AsyncStream.makeStream(of: StreamEvent.self)
        let second = Locked(false)
        let probe = try await StreamProbe(loop, target) { _, happening in
            guard case .closed = happening, second.withLock({ !$0 }) else { return }
            second.withLock { $0 = true }
            _ = loop.openStream(target, delegate: StreamReporter(event) { _, _ in })
        }
        var names: [String] = []
        for await event in events {
            names.append(String("\(event)".prefix { $0.isLetter }))
            if case .closed = event { break }
        }
        #expect(names == ["connected", "received", "closed"])
        _ = probe
    }

    @Test func closeAfterFlushDeliversEverythingEvenToAPeerThatIsStillSending() async throws {
        let count = 3 << 20
        let received = Locked(0)
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            connection.write([UInt8](repeating: 2, count: 100_000))
            received.withLock { [got = connection.readExactly(count + 1).count] in $0 = got }
            finish.finish()
        }
        defer { server.stop() }
        let calls = Locked(0)
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port)) { stream, _ in
            calls.withLock { $0 += 1 }
            guard !stream.isClosed else { return }
            stream.send([UInt8](repeating: 3, count: count))
            stream.closeAfterFlush()
        }
        await probe.connected()
        for await _ in done {}
        #expect(received.withLock { $0 } == count)
        try await self.settle()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func closeAfterFlushGivesUpOnAPeerThatDoesNotRead() async throws {
        let loop = try EventLoop(configuration: .init(connectTimeout: .seconds(600), lingerTimeout: .milliseconds(50)))
        let server = try LoopbackServer { $0.waitForStop() }
        defer { server.stop() }
        let (closed, finish) = AsyncStream.makeStream(of: Void.self)
        var probe = try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: server.port))
        await probe.connected()
        try await loop.run { [stream = probe.stream] in
            stream.value.send([UInt8](repeating: 3, count: 16 << 20))
            stream.value.closeAfterFlush()
            // In a local variable, because a failed expectation would print the stream with all unsent bytes.
            let isOpen = !stream.value.isClosed
            #expect(isOpen)
            loop.schedule(at: .now() + .milliseconds(60)) {
                let isClosed = stream.value.isClosed
                #expect(isClosed)
                finish.finish()
            }
        }
        for await _ in closed {}
    }

    @Test func closeAfterFlushBeforeTheConnectionStandsStillDelivers() async throws {
        let received = Locked("")
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            received.withLock { [text = String(decoding: connection.readExactly(99), as: UTF8.self)] in $0 = text }
            finish.finish()
        }
        defer { server.stop() }
        let loop = self.loop
        let port = server.port
        try await loop.run {
            let (_, event) = AsyncStream.makeStream(of: StreamEvent.self)
            let stream = loop.openStream(
                .tcp(host: "127.0.0.1", port: port),
                delegate: StreamReporter(event) { _, _ in Issue.record("a delegate call after closeAfterFlush") })
            stream.send(Array("bye".utf8))
            stream.closeAfterFlush()
        }
        for await _ in done {}
        #expect(received.withLock { $0 } == "bye")
    }

    @Test func shutdownClosesStreamsAndOpensNoMore() async throws {
        let server = try LoopbackServer { $0.waitForEnd() }
        defer { server.stop() }
        let loop = self.loop
        let target = StreamTarget.tcp(host: "127.0.0.1", port: server.port)
        var probe = try await StreamProbe(loop, target) { _, event in
            guard case .closed = event else { return }
            let (_, unused) = AsyncStream.makeStream(of: StreamEvent.self)
            let late = loop.openStream(target, delegate: StreamReporter(unused) { _, _ in })
            #expect(late.isClosed)
        }
        await probe.connected()
        loop.shutdown()
        #expect(await probe.closed()?.code == .shutDown)
    }

    @Test func shutdownSendsWhatTheLastCommandsQueued() async throws {
        let received = Locked("")
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            received.withLock { [text = String(decoding: connection.readExactly(99), as: UTF8.self)] in $0 = text }
            finish.finish()
        }
        defer { server.stop() }
        var probe = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        await probe.connected()
        probe.send("goodbye")
        self.loop.shutdown()
        for await _ in done {}
        #expect(received.withLock { $0 } == "goodbye")
    }

    @Test func hundredsOfStreamsComeAndGo() async throws {
        let server = try LoopbackServer { connection in
            while true {
                let bytes = connection.read()
                guard !bytes.isEmpty, connection.write(bytes) else { return }
            }
        }
        defer { server.stop() }
        let loop = self.loop
        let port = server.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    var probe = try await StreamProbe(loop, .tcp(host: "127.0.0.1", port: port))
                    await probe.connected()
                    let text = "stream \(index)"
                    probe.send(text)
                    #expect(await probe.text(text.utf8.count) == text)
                    probe.use { $0.close() }
                }
            }
            try await group.waitForAll()
        }
    }
}
