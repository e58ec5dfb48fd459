import Testing

@testable import KiiPushCore

/// The pipeline with an inbox in a file.
@Suite struct PipelineFileTests {
    /// A process that keeps messages in the file at a path, with real threads and by the machine's clocks.
    private final class FileProcess: Sendable {
        let loop: EventLoop
        let pipeline: LoopIsolated<Pipeline>
        let workers: Workers
        /// The store's key of the installation.
        let installation: Int64

        init(_ path: String, _ handler: any NotificationHandler) async throws {
            let loop = try EventLoop()
            self.loop = loop
            (self.pipeline, self.workers, self.installation) = try await loop.run {
                let configuration = DeliveryConfiguration()
                let store = try FileStore(
                    path: path, configuration: Inbox.Configuration(), longestDelay: .seconds(1800))
                let installation = try store.installation(id: "installation", of: nil)
                let pipeline = Pipeline(
                    store: store, on: loop, configuration: configuration, limits: .file, clock: { .now() },
                    observer: JournalListener(installation: installation).observer,
                    wake: { [weak loop] in _ = loop?.submit {} }, threads: .init())
                loop.setTurnDelegate(pipeline)
                pipeline.attach(
                    installation: installation, id: "installation", receiver: TestReceiver(handler: handler))
                return (LoopIsolated(confining: pipeline, to: loop), pipeline.workers, installation)
            }
        }

        func receive(on link: TestLink, ticket: UInt64) {
            self.loop.submit { [pipeline = self.pipeline] in
                let message = MQTTSession.InboundMessage(
                    topic: link.topic, payload: [UInt8](TestPipeline.push().utf8), qos: .atLeastOnce,
                    packetID: UInt16(ticket), ticket: ticket)
                pipeline.value.received(Arrival(link: link, message: message, connection: 1, receivedAt: .now()))
            }
        }

        /// What has become of every message, once all is written.
        func ledger() async throws -> MessageLedger {
            let hasCome = OneShot<Bool>()
            self.loop.submit { [pipeline = self.pipeline] in
                pipeline.value.wait(for: .writing, until: .now() + .seconds(600)) { hasCome.resume($0) }
            }
            _ = await hasCome.value()
            return try await self.loop.run { [pipeline = self.pipeline] in pipeline.value.ledger }
        }

        func end() {
            self.workers.shutdown()
            self.loop.shutdown()
        }
    }

    @Test func whatIsAcknowledgedIsOnTheDiskAndHandedOverByTheNextProcess() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/inbox.db"
            let (started, gate) = (Journal<Int64>(), Journal<Int>())
            let first = try await FileProcess(
                path,
                AsyncClosureHandler { _, context in
                    started.add(context.messageID)
                    await gate.first(1)
                    return .newData
                })
            let link = TestLink(installation: first.installation)
            for ticket in 1...3 as ClosedRange<UInt64> { first.receive(on: link, ticket: ticket) }
            // While the handler runs.
            #expect(await link.acknowledged.first(3) == [1, 2, 3])
            #expect(await started.first(1) == [1])
            first.end()
            gate.add(1)
            let seen = Journal<[Int64]>()
            let second = try await FileProcess(
                path,
                ClosureHandler { _, context, completion in
                    seen.add([context.messageID, Int64(context.attempt)])
                    completion(.newData)
                })
            // In order, and that the process has ended is no attempt of theirs.
            #expect(await seen.first(3) == [[1, 1], [2, 1], [3, 1]])
            while try await second.ledger().done < 3 { await Task.yield() }
            let ledger = try await second.ledger()
            #expect(ledger.received == 3)
            #expect(ledger.waiting == 0)
            #expect(ledger.running == 0)
            second.end()
        }
    }

    @Test func aRedeliveryIsTheRowOnceMoreAndAcknowledgedAtOnce() throws {
        try withTemporaryDirectory { directory in
            let loop = ManualLoop()
            let store = try Self.store(directory)
            _ = try store.installation(id: "installation", of: nil)
            let line = TestPipeline(store, on: loop) { _ in nil }
            let link = TestLink()
            link.candidate.withLock { $0 = 1 }
            line.receive(on: link, ticket: 1)
            loop.turns()
            line.work()
            line.receive(on: link, ticket: 2, duplicate: true)
            loop.turns()
            line.work()
            #expect(link.acknowledged.entries == [1, 2])
            #expect(line.called.entries == [1])
            #expect(line.events == [.received, .started(attempt: 1), .duplicate])
            #expect(store.ledger.duplicates == 1)
            #expect(line.answer(.newData))
            loop.turns()
            #expect(store.ledger.done == 1)
        }
    }

    @Test func theLastTurnTakesNothingInHand() throws {
        try withTemporaryDirectory { directory in
            let loop = ManualLoop()
            let store = try Self.store(directory)
            let installation = try store.installation(id: "installation", of: nil)
            let line = TestPipeline(store, on: loop, isAttached: false)
            line.receive(on: TestLink(installation: installation), ticket: 1)
            loop.turns()
            #expect(store.ledger.waiting == 1)
            line.attach()
            for _ in 0..<20 where !Self.asksForMessages(line) { loop.turn() }
            #expect(Self.asksForMessages(line))
            line.pipeline.loopEnds()
            loop.turn()
            #expect(store.ledger.waiting == 1)
            #expect(store.ledger.running == 0)
        }
    }

    /// For an agent that begins anew before it is written.
    @Test func whatIsNotedOfTheSessionCountsAtOnce() throws {
        try withTemporaryDirectory { directory in
            let store = try Self.store(directory)
            let key = try store.installation(id: "installation", of: nil)
            let message = MQTTSession.InboundMessage(
                topic: "t", payload: [UInt8](TestPipeline.push().utf8), qos: .atLeastOnce, packetID: 7, ticket: 1)
            let link = TestLink(installation: key)
            let arrival = Arrival(link: link, message: message, connection: 1, receivedAt: .now())
            store.commit(Turn(arrivals: [arrival])) { _ in }
            func count() throws -> Int { try store.unproven(installation: key).count }
            var counts = [try count()]
            store.doubt(installation: key, through: 1)
            counts.append(try count())
            store.commit(Turn()) { _ in }
            counts.append(try count())
            store.proven(installation: key, through: 0)
            counts.append(try count())
            #expect(counts == [1, 0, 0, 1])
        }
    }

    private static func store(_ directory: String) throws -> FileStore {
        try FileStore(
            path: directory + "/inbox.db", configuration: Inbox.Configuration(), longestDelay: .seconds(1800))
    }

    /// Whether messages of a source are claimed in the next turn.
    private static func asksForMessages(_ line: TestPipeline) -> Bool {
        line.pipeline.turn.claims.contains { claim in
            if case .source = claim.kind { true } else { false }
        }
    }
}
