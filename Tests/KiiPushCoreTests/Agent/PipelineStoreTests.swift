import Testing

@testable import KiiPushCore

@Suite struct PipelineStoreTests {
    /// A process with a durable store, real threads and the machine's clocks.
    final class StoreProcess: Sendable {
        let loop: EventLoop
        let pipeline: LoopIsolated<Pipeline>
        let workers: Workers
        let installation: Int64

        init(_ place: StorePlace, _ handler: any NotificationHandler) async throws {
            let loop = try EventLoop()
            self.loop = loop
            let store = try await place.makeStore(on: loop)
            let found = OneShot<Result<Int64, InboxError>>()
            try await loop.run {
                store.value.installation(id: "installation", of: nil, agent: "agent") { found.resume($0) }
            }
            let installation = try await found.value().get()
            self.installation = installation
            (self.pipeline, self.workers) = try await loop.run {
                let pipeline = Pipeline(
                    store: store.value, on: loop, configuration: DeliveryConfiguration(), limits: .file,
                    clock: { .now() }, observer: JournalListener(installation: installation).observer,
                    wake: { [weak loop] in _ = loop?.submit {} }, threads: .init())
                loop.setTurnDelegate(pipeline)
                pipeline.attach(
                    installation: installation, id: "installation", receiver: TestReceiver(handler: handler))
                return (LoopIsolated(confining: pipeline, to: loop), pipeline.workers)
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

        func ledger() async throws -> MessageLedger {
            let hasCome = OneShot<Bool>()
            self.loop.submit { [pipeline = self.pipeline] in
                pipeline.value.wait(for: .writing, until: .now() + .seconds(600)) { hasCome.resume($0) }
            }
            _ = await hasCome.value()
            return try await self.loop.ask(self.pipeline) { $0.store.ledger(completion: $1) }
        }

        func end() {
            self.workers.shutdown()
            self.loop.shutdown()
        }
    }

    @Test(arguments: StoreKind.durable) func whatIsAcknowledgedIsKeptAndHandedOverByTheNextProcess(
        _ kind: StoreKind
    ) async throws {
        try await withStorePlace(kind) { place in
            let (started, gate) = (Journal<Int64>(), Journal<Int>())
            let first = try await StoreProcess(
                place,
                AsyncClosureHandler { _, context in
                    started.add(context.messageID)
                    await gate.first(1)
                    return .newData
                })
            let link = TestLink(installation: first.installation)
            for ticket in 1...3 as ClosedRange<UInt64> { first.receive(on: link, ticket: ticket) }
            // The handler is still running.
            #expect(await link.acknowledged.first(3) == [1, 2, 3])
            #expect(await started.first(1) == [1])
            first.end()
            gate.add(1)
            let seen = Journal<[Int64]>()
            let second = try await StoreProcess(
                place,
                ClosureHandler { _, context, completion in
                    seen.add([context.messageID, Int64(context.attempt)])
                    completion(.newData)
                })
            // The messages come in order, and the end of the first process counts as no attempt.
            #expect(await seen.first(3) == [[1, 1], [2, 1], [3, 1]])
            while try await second.ledger().done < 3 { try await Task.sleep(for: .milliseconds(10)) }
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
            store.installation(id: "installation", of: nil, agent: "agent") { _ in }
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
            store.installation(id: "installation", of: nil, agent: "agent") { _ in }
            let line = TestPipeline(store, on: loop, isAttached: false)
            line.receive(on: TestLink(), ticket: 1)
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

    private static func store(_ directory: String) throws -> FileStore {
        try FileStore(
            path: directory + "/inbox.db", configuration: Inbox.Configuration(), longestDelay: .seconds(1800))
    }

    private static func asksForMessages(_ line: TestPipeline) -> Bool {
        line.pipeline.turn.claims.contains { claim in
            if case .source = claim.kind { true } else { false }
        }
    }
}
