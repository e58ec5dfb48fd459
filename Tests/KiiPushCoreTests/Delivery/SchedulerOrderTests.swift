import Testing

@testable import KiiPushCore

@Suite struct SchedulerOrderTests {
    private static let done = HandlerVerdict.result(.newData)

    @Test func messagesOfOneSourceStartInOrderOneAtATime() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3)
        for sequence in [Int64(1), 2, 3] {
            let call = try #require(scheduler.start(at: 0))
            #expect(call.sequence == sequence)
            #expect(scheduler.start(at: 0) == nil)
            scheduler.end(call, at: 0)
            #expect(scheduler.start(at: 0) == nil)
            #expect(scheduler.reply(call, Self.done, at: 1))
        }
        #expect(scheduler.start(at: 2) == nil)
    }

    @Test func sourcesThatComeAfterAnAgentHasEndedDoNotMix() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        #expect(scheduler.run(at: 0) == [1])
        // The source's place is free, and detaching must not free it a second time.
        scheduler.detach()
        scheduler.attach()
        scheduler.turn(at: 1)
        scheduler.receive(2, 3, of: "b")
        scheduler.turn(at: 1)
        scheduler.receive(4, of: "c")
        #expect(scheduler.run(at: 1) == [2, 3, 4])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func aPausedMessageDoesNotHoldBackItsSuccessors() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3)
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        let next = try #require(scheduler.start(at: 0))
        #expect(next.sequence == 2)
        scheduler.turn(at: 1)
        scheduler.end(next, at: 1)
        #expect(scheduler.reply(next, Self.done, at: 1))
        // After its pause the message starts before later messages.
        #expect(scheduler.run(at: 1) == [1, 3])
    }

    @Test func inStrictOrderAPausedMessageHoldsBackItsSuccessors() throws {
        let scheduler = TestScheduler.open { $0.isStrictlyOrdered = true }
        scheduler.receive(1, 2)
        scheduler.receive(3, of: "b")
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        // With strict order the rest of the source's queue leaves memory, so that other sources can use the memory.
        #expect(
            scheduler.changes() == [.change(1, .again(after: 1, .failed), attempts: 1), .change(2, .back())])
        #expect(scheduler.run(at: 0) == [3])
        #expect(scheduler.memoryWeight == 0)
        scheduler.receive(4)
        #expect(scheduler.start(at: 0) == nil)
        #expect(scheduler.rows[4] == .waiting)
        let again = try #require(scheduler.start(at: 1))
        #expect(again.sequence == 1)
        #expect(scheduler.start(at: 1) == nil)
        scheduler.answer(again, .rejected("enough"), at: 2)
        #expect(scheduler.run(at: 2) == [2, 4])
    }

    @Test func inStrictOrderSourcesThatWaitForARetryLeaveMemoryToOthers() {
        let scheduler = TestScheduler.open {
            $0.isStrictlyOrdered = true
            $0.messagesInMemory = 16
        }
        scheduler.receive((1...16).map { .push($0, source: $0 % 2 == 0 ? "a" : "b") })
        #expect(scheduler.run(at: 0, .result(.failed)) == [1, 2])
        #expect(scheduler.memoryWeight == 0)
        scheduler.receive(17, of: "quick")
        #expect(scheduler.run(at: 0) == [17])
        let order = scheduler.run(at: 1)
        #expect(order.filter { $0 % 2 == 0 } == [2, 4, 6, 8, 10, 12, 14, 16])
        #expect(order.filter { $0 % 2 == 1 } == [1, 3, 5, 7, 9, 11, 13, 15])
    }

    // MARK: - After a restart

    private func restarted(
        paused: [StoredMessage] = [], suspects: [StoredMessage] = [], waiting: [StoredMessage] = [],
        due: Double = 5
    ) -> TestScheduler {
        let scheduler = TestScheduler { $0.isStrictlyOrdered = true }
        for message in paused { scheduler.rows.insert(message, .retry(at: .seconds(due))) }
        for message in suspects { scheduler.rows.insert(message, .inHand) }
        for message in waiting { scheduler.rows.insert(message) }
        scheduler.attach()
        scheduler.turn(at: 0)
        return scheduler
    }

    @Test func retriesAreFoundOutBeforeTheSuspects() {
        let scheduler = self.restarted()
        #expect(
            scheduler.asked.map(\.kind) == [
                .unsettled(after: 0), .paused(after: 0), .suspects(after: 0), .retries, .sources(after: nil),
            ])
    }

    @Test func aRetryInTheStoreHoldsBackWhatCameAfterIt() {
        let scheduler = self.restarted(
            paused: [.push(1).with { $0.attempts = 2 }], waiting: [.push(2), .push(3, source: "b"), .push(4)])
        #expect(scheduler.run(at: 0) == [3])
        #expect(scheduler.nextDeadline == .seconds(5))
        scheduler.receive(5)
        #expect(scheduler.run(at: 1) == [])
        #expect(scheduler.run(at: 5) == [1, 2, 4, 5])
    }

    @Test func anOverdueRetryComesFirst() {
        let scheduler = self.restarted(paused: [.push(1)], waiting: [.push(2)], due: -60)
        #expect(scheduler.run(at: 0) == [1, 2])
    }

    @Test func severalRetriesOfASourceAreAllWaitedFor() {
        let scheduler = TestScheduler { $0.isStrictlyOrdered = true }
        scheduler.rows.insert(.push(1), .retry(at: .seconds(9)))
        scheduler.rows.insert(.push(2), .retry(at: .seconds(3)))
        scheduler.rows.insert(.push(3))
        scheduler.attach()
        #expect(scheduler.run(at: 0) == [])
        #expect(scheduler.run(at: 3) == [])
        #expect(scheduler.run(at: 9) == [1, 2, 3])
    }

    @Test func whatWasInHandBehindARetryStaysThereUntilItsTurnComes() {
        let scheduler = self.restarted(
            paused: [.push(1).with { $0.attempts = 1 }],
            suspects: [.push(2), .push(3, source: "b"), .push(4)], waiting: [.push(5), .push(6, source: "b")])
        #expect(scheduler.run(at: 0) == [3, 6])
        #expect([scheduler.rows[2], scheduler.rows[4], scheduler.rows[5]] == [.inHand, .inHand, .waiting])
        _ = scheduler.changes()
        #expect(scheduler.run(at: 5) == [1, 2, 4, 5])
        // They still run alone, after their attempt was written.
        #expect(scheduler.changes().filter { $0.verdict == .inHand }.map(\.sequence) == [2, 4])
    }

    @Test func aRunAloneThatFailsHoldsBackTheOnesBehindIt() throws {
        let scheduler = self.restarted(suspects: [.push(1), .push(2)], waiting: [.push(3, source: "b")])
        let alone = try #require(scheduler.start(at: 0))
        #expect(alone.sequences == [1])
        scheduler.answer(alone, .result(.failed), at: 0)
        #expect(scheduler.run(at: 0) == [3])
        #expect(scheduler.run(at: 1) == [1, 2])
    }

    @Test func stoppingLeavesTheRowsAsTheNextProcessHasToFindThem() {
        let scheduler = self.restarted(paused: [.push(1)], suspects: [.push(2)], waiting: [.push(3)])
        scheduler.drain()
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [])
        #expect([scheduler.rows[2], scheduler.rows[3]] == [.inHand, .waiting])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func aLateSuccessLetsTheOneBehindItRun() throws {
        let scheduler = self.restarted(suspects: [.push(1), .push(2)])
        let alone = try #require(scheduler.start(at: 0))
        scheduler.end(alone, at: 0)
        #expect(scheduler.run(at: 30) == [])
        #expect(scheduler.reply(alone, Self.done, at: 30.5))
        #expect(scheduler.run(at: 30.5) == [2])
        #expect(scheduler.rows[1] == .done)
    }

    @Test func aDroppedRetryLetsTheOnesBehindItGo() {
        let scheduler = self.restarted(paused: [.push(1)], waiting: [.push(2)])
        #expect(scheduler.run(at: 0) == [])
        #expect(scheduler.release(1) == nil)
        #expect(scheduler.run(at: 0) == [2])
    }
}
