import Testing

@testable import KiiPushCore

@Suite struct PipelineTurnTests {
    // MARK: - Acknowledging

    @Test func whatIsKeptSafeIsAcknowledgedWhenItIsStoredAndBeforeItIsHandled() {
        let loop = ManualLoop()
        let line = TestPipeline(JournalStore(loop.clock), on: loop)
        let link = TestLink()
        for ticket in 1...3 as ClosedRange<UInt64> { line.receive(on: link, ticket: ticket) }
        #expect(link.acknowledged.entries == [])
        loop.turn()
        #expect(link.acknowledged.entries == [1, 2, 3])
        #expect(line.called.entries == [])
        line.work()
        #expect(line.called.entries == [1, 2, 3])
    }

    @Test func inMemoryAMessageIsAcknowledgedWhenItsOutcomeIsFinal() {
        let loop = ManualLoop()
        let line = TestPipeline(MemoryStore(clocks: loop.clocks), on: loop, .memoryInbox) { context in
            context.messageID == 1 && context.attempt < 3 ? .failed : .newData
        }
        let link = TestLink()
        line.receive(on: link, ticket: 1)
        line.receive(TestPipeline.push("b"), on: link, ticket: 2)
        loop.turns()
        #expect(link.acknowledged.entries == [])
        line.work()
        #expect(line.called.entries == [1, 2])
        #expect(link.acknowledged.entries == [2])
        line.advance(.seconds(1))
        line.work()
        #expect(link.acknowledged.entries == [2])
        line.advance(.seconds(5))
        line.work()
        #expect(line.called.entries == [1, 2, 1, 1])
        #expect(link.acknowledged.entries == [2, 1])
    }

    @Test func inMemoryWhatIsGivenUpOnIsAcknowledged() {
        let loop = ManualLoop()
        let line = TestPipeline(MemoryStore(clocks: loop.clocks), on: loop, .memoryInbox) { _ in .failed }
        let link = TestLink()
        line.receive(on: link, ticket: 1)
        line.receive("{not json", on: link, ticket: 2)
        loop.turns()
        // No handler gets an undecodable message, so its acknowledgement waits for nothing.
        #expect(link.acknowledged.entries == [2])
        for pause in [0, 1, 5] {
            #expect(link.acknowledged.entries == [2])
            line.advance(.seconds(pause))
            line.work()
        }
        #expect(link.acknowledged.entries == [2, 1])
    }

    // MARK: - Redeliveries

    @Test func inMemoryARedeliveryJoinsAndIsAcknowledgedWithTheFirst() {
        let loop = ManualLoop()
        let line = TestPipeline(MemoryStore(clocks: loop.clocks), on: loop) { context in
            context.messageID == 1 ? nil : .newData
        }
        let link = TestLink()
        link.candidate.withLock { $0 = 1 }
        line.receive(on: link, ticket: 1)
        loop.turns()
        line.work()
        line.receive(on: link, ticket: 2, duplicate: true)
        loop.turns()
        line.work()
        #expect(link.acknowledged.entries == [])
        #expect(line.events == [.received, .started(attempt: 1), .duplicate])
        #expect(line.answer(.newData))
        loop.turns()
        #expect(link.acknowledged.entries == [1, 2])
        // A redelivery is also recognised after the outcome.
        line.receive(on: link, ticket: 3, duplicate: true)
        loop.turns()
        #expect(link.acknowledged.entries == [1, 2, 3])
        line.work()
        #expect(line.called.entries == [1])
        // Other bytes are another message, even with DUP.
        line.receive(TestPipeline.push("b"), on: link, ticket: 4, duplicate: true)
        loop.turns()
        line.work()
        #expect(line.called.entries == [1, 2])
    }

    // MARK: - A store that fails

    @Test func aTurnThatFailsIsTriedEverySecondAndNothingIsAcknowledgedMeanwhile() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        let link = TestLink()
        store.fail(times: 3)
        for ticket in 1...3 as ClosedRange<UInt64> { line.receive(on: link, ticket: ticket) }
        let before = store.commits
        loop.turns()
        #expect(store.commits == before + 1)
        line.advance(.milliseconds(900))
        #expect(store.commits == before + 1)
        line.advance(.milliseconds(100))
        #expect(store.commits == before + 2)
        line.receive(on: link, ticket: 4)
        loop.turns()
        line.advance(.seconds(1))
        #expect(store.commits == before + 3)
        #expect(link.acknowledged.entries == [])
        #expect(line.reports == ["not storing"])
        line.advance(.seconds(1))
        #expect(link.acknowledged.entries == [1, 2, 3, 4])
        #expect(line.reports == ["not storing", "storing again"])
        line.work()
        #expect(line.called.entries == [1, 2, 3, 4])
    }

    @Test func aDecisionThatTheStoreRefusesChangesNothing() {
        let loop = ManualLoop()
        let line = TestPipeline(FlakyStore(JournalStore(loop.clock)), on: loop)
        for ticket in 1...3 as ClosedRange<UInt64> { line.receive(on: TestLink(), ticket: ticket) }
        loop.turns()
        var refusals: [InboxError.Kind] = []
        for (decision, message) in [(.retry, 2), (.drop, 3)] as [(PushRuntime.Decision, Int64)] {
            line.pipeline.decide(decision, message) { answer in
                if case .failure(let error) = answer { refusals.append(error.kind) }
            }
        }
        #expect(refusals == [.full, .full])
        loop.turns()
        line.work()
        #expect(line.called.entries == [1, 2, 3])
    }

    @Test func aTurnBetweenDoesNotPutOffTheNextTry() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        store.fail(times: 1)
        line.receive(on: TestLink(), ticket: 1)
        loop.turns()
        let next = loop.clock.now + .seconds(1)
        #expect(loop.nextTurn == next)
        line.advance(.milliseconds(200))
        line.pipeline.takeTurn()
        loop.turns()
        #expect(loop.nextTurn == next)
    }

    @Test func eachReasonWhyTheStoreFailsIsToldOnce() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        store.failures = [.io, .io, .away].map { InboxError($0, step: "testing") }
        line.receive(on: TestLink(), ticket: 1)
        loop.turns()
        for _ in 1...4 { line.advance(.seconds(1)) }
        #expect(line.reports == ["not storing", "not storing", "storing again"])
    }

    @Test func aVerdictThatCannotBeStoredIsKept() {
        let loop = ManualLoop()
        let journal = JournalStore(loop.clock)
        let store = FlakyStore(journal)
        let line = TestPipeline(store, on: loop)
        line.receive(on: TestLink(), ticket: 1)
        loop.turns()
        store.fail(times: 2)
        line.work()
        #expect(journal.changes.entries == [])
        line.advance(.seconds(1))
        #expect(journal.changes.entries == [])
        line.advance(.seconds(1))
        #expect(journal.changes.entries == [.change(1, .done(.newData), attempts: 1)])
        #expect(line.called.entries == [1])
    }

    @Test func whileAVerdictCannotBeStoredNoFurtherMessageStarts() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        let link = TestLink()
        for ticket in 1...3 as ClosedRange<UInt64> { line.receive(on: link, ticket: ticket) }
        line.receive(TestPipeline.push("b"), on: link, ticket: 4)
        loop.turns()
        let isTaken = line.worker.takeCall()
        #expect(isTaken)
        store.fail(times: 2)
        // The handler has answered, but its call has not returned.
        _ = line.worker.makeCall()
        loop.turns()
        line.worker.callReturned()
        line.work()
        #expect(line.called.entries == [1])
        line.advance(.seconds(1))
        line.work()
        #expect(line.called.entries == [1])
        line.advance(.seconds(1))
        line.work()
        #expect(line.called.entries.sorted() == [1, 2, 3, 4])
    }

    @Test func onAFullDiskRoomIsMadeAndTheTurnTriedAtOnce() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        let link = TestLink()
        store.fail(times: 1, .full)
        store.removable = 5
        line.receive(on: link, ticket: 1)
        loop.turn()
        #expect(link.acknowledged.entries == [1])
        #expect(line.reports == ["history cut 5"])
        // If the removal of old messages does not help, the commit fails like any other.
        store.fail(times: 2, .full)
        line.receive(on: link, ticket: 2)
        loop.turn()
        #expect(link.acknowledged.entries == [1])
        #expect(line.reports == ["history cut 5", "history cut 5", "not storing"])
        line.advance(.seconds(1))
        #expect(link.acknowledged.entries == [1, 2])
    }

    /// A link may wait for this write before it sends CONNECT.
    @Test func whatIsNotedIsWrittenThoughNothingElseIs() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let line = TestPipeline(store, on: loop)
        store.fail(times: 1, .full)
        store.removable = 5
        store.hasMoreToWrite = true
        loop.turn()
        #expect(!store.hasMoreToWrite)
        // Messages without room do not prevent the write.
        store.takesNoArrivals = true
        line.receive(on: TestLink(), ticket: 1)
        loop.turn()
        store.hasMoreToWrite = true
        line.advance(.seconds(1))
        #expect(!store.hasMoreToWrite)
        #expect(line.reports == ["history cut 5", "history cut 5", "not storing", "history cut 5"])
    }

    @Test func claimsOfATurnThatFailsAreMadeAnew() {
        let loop = ManualLoop()
        let journal = JournalStore(loop.clock)
        let store = FlakyStore(journal)
        let line = TestPipeline(store, on: loop)
        journal.insert([.push(1)])
        line.pipeline.appeared(.push(1))
        store.fail(times: 1)
        loop.turns()
        line.work()
        #expect(line.called.entries == [])
        #expect(line.pipeline.scheduler.memoryWeight == 0)
        line.advance(.seconds(1))
        line.advance(.seconds(1))
        line.work()
        #expect(line.called.entries == [1])
    }

    /// Handling these messages is the only way to make room.
    @Test func whatWaitsInTheStoreIsHandledThoughThereIsNoRoomForMessages() {
        let loop = ManualLoop()
        let journal = JournalStore(loop.clock)
        let store = FlakyStore(journal)
        let line = TestPipeline(store, on: loop)
        store.takesNoArrivals = true
        line.receive(on: TestLink(), ticket: 1)
        loop.turns()
        journal.insert([.push(1)])
        line.pipeline.appeared(.push(1))
        for _ in 1...3 {
            line.advance(.seconds(1))
            line.work()
        }
        #expect(line.called.entries == [1])
    }

    // MARK: - Back-pressure

    @Test func readingStopsWhileTooMuchWaitsForAHandler() {
        let loop = ManualLoop()
        // The limit is five messages of the smallest size.
        let limits = BackPressure.Limits(unstoredBytes: 1 << 20, pendingBytes: 5000)
        let line = TestPipeline(MemoryStore(clocks: loop.clocks), on: loop, limits: limits)
        let link = TestLink()
        for ticket in 1...4 as ClosedRange<UInt64> { line.receive(on: link, ticket: ticket) }
        #expect(!line.pipeline.isSaturated)
        line.receive(on: link, ticket: 5)
        #expect(line.pipeline.isSaturated)
        loop.turns()
        #expect(line.pipeline.isReadingPaused)
        line.work()
        #expect(!line.pipeline.isReadingPaused)
        #expect(link.acknowledged.entries == [1, 2, 3, 4, 5])
    }

    @Test func readingStopsWhileTooMuchCannotBeStored() {
        let loop = ManualLoop()
        let store = FlakyStore(JournalStore(loop.clock))
        let limits = BackPressure.Limits(unstoredBytes: 2000, pendingBytes: 1 << 20)
        let line = TestPipeline(store, on: loop, limits: limits)
        store.fail(times: 1)
        for ticket in 1...2 as ClosedRange<UInt64> { line.receive(on: TestLink(), ticket: ticket) }
        loop.turns()
        #expect(line.pipeline.isReadingPaused)
        line.advance(.seconds(1))
        #expect(!line.pipeline.isReadingPaused)
    }

    // MARK: - The end

    @Test func nothingOutlivesTheLoop() async throws {
        let hasEnded = Locked(false)
        let loop = try EventLoop()
        try await loop.run {
            let fuse = Fuse { hasEnded.withLock { $0 = true } }
            let pipeline = Pipeline.idle(over: MemoryStore(), on: loop) { withExtendedLifetime(fuse) {} }
            // The acknowledgement waits for an outcome that never comes.
            let link = BrokerLink.test(pipeline)
            let message = MQTTSession.InboundMessage(
                topic: "topic", payload: [UInt8](TestPipeline.push().utf8), qos: .atLeastOnce, packetID: 5, ticket: 1)
            pipeline.received(Arrival(link: link, message: message, connection: 101, receivedAt: .now()))
            loop.setTurnDelegate(pipeline)
        }
        loop.shutdown()
        #expect(hasEnded.withLock { $0 })
    }
}
