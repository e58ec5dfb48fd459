import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct HeldStoreTests {
    /// A pipeline over an inbox file with one message. The handler keeps the message's completion.
    private struct Stage {
        let loop = ManualLoop()
        let store: HeldStore
        let line: TestPipeline
        let link = TestLink()

        init(_ directory: String) throws {
            let file = try FileStore(
                path: directory + "/inbox.db", configuration: Inbox.Configuration(), longestDelay: .seconds(1800))
            file.installation(id: "installation-1", of: nil, agent: "agent") { _ in }
            self.store = HeldStore(file)
            self.line = TestPipeline(self.store, on: self.loop) { _ in nil }
            self.line.receive(on: self.link, ticket: 1)
            self.loop.turns()
        }

        /// Starts a decision about the message while the store holds its steps, and stops before the step that changes
        /// the row.
        func decide(_ decision: PushRuntime.Decision) -> Locked<MessageDecision?> {
            let decided = Locked<MessageDecision?>(nil)
            self.store.isHolding = true
            self.line.pipeline.decide(decision, 1) { answer in decided.withLock { $0 = try? answer.get() } }
            self.store.step()
            #expect(self.store.waiting == 1)
            return decided
        }

        func resume() {
            self.store.release()
            self.loop.turns()
            self.line.work()
        }
    }

    @Test func whatIsCalledWhileItIsMadeToWaitIsNotCalledTwiceAtOnce() throws {
        try withTemporaryDirectory { directory in
            let stage = try Stage(directory)
            let decided = stage.decide(.retry)
            stage.loop.turns()
            stage.line.work()
            #expect(stage.line.called.entries == [1])
            stage.loop.clock.advance(.seconds(2))
            stage.store.step()
            #expect(decided.withLock { $0 } == .running(for: .seconds(2)))
            stage.resume()
            // The row counts as running, so that after a crash the next process runs it alone.
            #expect(stage.store.ledger.running == 1)
            #expect(stage.line.answer(.newData))
            stage.resume()
            #expect(stage.line.called.entries == [1])
            #expect(stage.store.ledger.done == 1)
        }
    }

    @Test func whatIsCalledWhileItIsDroppedIsGone() throws {
        try withTemporaryDirectory { directory in
            let stage = try Stage(directory)
            let decided = stage.decide(.drop)
            stage.loop.turns()
            stage.line.work()
            stage.store.step()
            #expect(decided.withLock { $0 } == .carriedOut)
            #expect(stage.line.answer(.failed))
            stage.resume()
            stage.line.advance(.seconds(1))
            stage.line.work()
            #expect(stage.line.called.entries == [1])
            #expect(stage.store.ledger.dropped == 1)
            #expect(stage.store.ledger.isBalanced)
        }
    }

    /// The store would write the answer after the retry made the message wait.
    @Test func anAnswerFromBeforeADecisionDoesNotUndoIt() throws {
        try withTemporaryDirectory { directory in
            let stage = try Stage(directory)
            stage.line.work()
            #expect(stage.line.answer(.newData))
            let decided = stage.decide(.retry)
            stage.loop.turns()
            #expect(stage.store.waiting == 1)
            stage.store.step()
            #expect(decided.withLock { $0 } == .carriedOut)
            stage.resume()
            #expect(stage.line.called.entries == [1, 1])
            #expect(stage.line.answer(.newData))
            stage.resume()
            #expect(stage.store.ledger.done == 1)
        }
    }

    @Test func whatComesWhileAQuestionIsOpenIsAcknowledgedInOrderWhenItIsStored() throws {
        try withTemporaryDirectory { directory in
            let stage = try Stage(directory)
            stage.store.isHolding = true
            let answered = Locked<[Int64]>([])
            stage.line.pipeline.store.presented(installation: 1, after: 0, limit: 9) { _ in
                answered.withLock { $0 = stage.link.acknowledged.entries.map { Int64($0) } }
            }
            for ticket in 2...3 as ClosedRange<UInt64> { stage.line.receive(on: stage.link, ticket: ticket) }
            stage.loop.turns()
            // The next commit will contain message 4: only one commit runs at a time.
            stage.line.receive(on: stage.link, ticket: 4)
            stage.loop.turns()
            #expect(stage.store.waiting == 2)
            #expect(stage.link.acknowledged.entries == [1])
            stage.store.step()
            #expect(answered.withLock { $0 } == [1])
            stage.store.step()
            #expect(stage.link.acknowledged.entries == [1])
            stage.loop.turns()
            #expect(stage.link.acknowledged.entries == [1, 2, 3])
            stage.resume()
            #expect(stage.link.acknowledged.entries == [1, 2, 3, 4])
            #expect(stage.store.ledger.received == 4)
        }
    }

    @Test func aCommitThatTakesLongIsTold() throws {
        let loop = ManualLoop()
        let store = HeldStore(MemoryStore(clocks: loop.clocks))
        let line = TestPipeline(store, on: loop, .memoryInbox)
        store.isHolding = true
        line.receive(on: TestLink(), ticket: 1)
        line.advance(.seconds(4))
        #expect(line.reports == [])
        line.advance(.seconds(2))
        line.advance(.seconds(60))
        #expect(line.reports == ["not storing"])
        store.release()
        loop.turns()
        #expect(line.reports == ["not storing", "storing again"])
        line.work()
        #expect(line.called.entries == [1])
    }

    @Test(.timeLimit(.minutes(1))) func whoAsksIsToldWhenTheLoopEndsFirst() async throws {
        let loop = try EventLoop()
        let asked = Journal<Bool>()
        let pipeline = try await loop.run {
            let store = HeldStore(MemoryStore()) { asked.add(true) }
            store.isHolding = true
            return loop.drive(Pipeline.idle(over: store, on: loop))
        }
        async let end: Void = {
            // The first commit of a new store, and the question.
            await asked.first(2)
            loop.shutdown()
        }()
        // The second question comes after the loop's end.
        for _ in 1...2 {
            await #expect {
                try await loop.ask(pipeline) { $0.store.installation(id: "i", of: nil, agent: "a", completion: $1) }
            } throws: { error in
                (error as? TransportError)?.code == .shutDown
            }
        }
        await end
    }

    @Test func aFailureOfADatabaseIsToldInItsOwnTerms() {
        let error = InboxError(.away, step: "storing a turn", sqlState: "57P01")
        #expect(
            error.description
                == "storing a turn failed (SQLSTATE 57P01); check that the database runs and can be "
                + "reached; nothing is acknowledged until it can")
        #expect(
            InboxError(.full, step: "storing", sqlState: "53100").advice.hasPrefix("free some space for the database;"))
    }
}
