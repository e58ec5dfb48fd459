import Testing

@testable import KiiPushCore

/// Suspects are messages that an earlier process had in memory when it ended. Each runs alone, after its attempt was
/// written.
@Suite struct SchedulerRecoveryTests {
    private static let done = HandlerVerdict.result(.newData)

    private func recovered(
        _ suspects: StoredMessage..., change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) -> TestScheduler {
        let scheduler = TestScheduler(change)
        for message in suspects { scheduler.rows.insert(message, .inHand) }
        scheduler.attach()
        scheduler.turn(at: 0)
        return scheduler
    }

    @Test func suspectsRunOneAtATime() throws {
        let scheduler = self.recovered(.push(1), .push(2, source: "b"))
        scheduler.receive(9, of: "c")
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        let first = try #require(scheduler.start(at: 0))
        #expect(first.sequences == [1])
        #expect(first.attempt == 1)
        #expect(scheduler.start(at: 0) == nil)
        scheduler.answer(first, Self.done, at: 1)
        #expect(
            scheduler.changes() == [
                .change(1, .done(.newData), attempts: 1), .change(2, .inHand, attempts: 1, crashes: 1),
            ])
        let second = try #require(scheduler.start(at: 1))
        #expect(second.sequences == [2])
        scheduler.answer(second, Self.done, at: 2)
        #expect(scheduler.run(at: 2) == [9])
    }

    @Test func theAttemptIsDurableFirst() throws {
        let scheduler = TestScheduler()
        scheduler.rows.insert(.push(1).with { $0.attempts = 2 }, .inHand)
        scheduler.attach()
        scheduler.holdsCommits = true
        scheduler.turn(at: 0)
        // The first read finds rows without a source, the second finds suspects.
        for _ in 1...2 {
            scheduler.commit()
            scheduler.settle()
        }
        #expect(scheduler.pending.map(\.verdict) == [.inHand])
        #expect(scheduler.pending.map(\.attempt) == [MessageChange.Attempt(number: 3)])
        #expect(scheduler.start(at: 0) == nil)
        scheduler.holdsCommits = false
        #expect(scheduler.start(at: 0)?.sequence == 1)
    }

    /// Suspect 1 is queued to run alone, but no worker has taken the call yet. Suspect 2 of the same source waits.
    private func handedOut() -> TestScheduler {
        let scheduler = self.recovered(.push(1), .push(2))
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        return scheduler
    }

    @Test func aSuspectThatIsTakenBackUnstartedRunsAloneAgain() throws {
        let scheduler = self.handedOut()
        scheduler.scheduler.isStoreFailing = true
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [.change(1, .inHand)])
        scheduler.scheduler.isStoreFailing = false
        let call = try #require(scheduler.start(at: 1))
        #expect(call.sequences == [1])
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        scheduler.answer(call, Self.done, at: 1)
        #expect(scheduler.run(at: 1) == [2])
        #expect(scheduler.memoryWeight == 0)
    }

    /// Suspect 3 waits for the retries of 1 and 2, because of strict order.
    private func withOneHeldBack() throws -> TestScheduler {
        let scheduler = TestScheduler {
            $0.isStrictlyOrdered = true
            $0.messagesInMemory = 4
        }
        scheduler.rows.insert(.push(1))
        for sequence in 2...3 as ClosedRange<Int64> { scheduler.rows.insert(.push(sequence), .inHand) }
        scheduler.attach()
        for sequence in [2, 1] as [Int64] {
            let call = try #require(scheduler.start(at: 0))
            #expect(call.sequences == [sequence])
            scheduler.answer(call, .result(.failed), at: 0)
        }
        #expect(scheduler.heldSuspects == [3])
        return scheduler
    }

    @Test func whatComesBackBeforeASuspectThatIsHeldBackStaysBeforeIt() throws {
        let scheduler = try self.withOneHeldBack()
        let call = try #require(scheduler.start(at: 10))
        #expect(call.sequences == [1, 2])
        scheduler.answer(call, .result(.failed), at: 10)
        #expect(scheduler.run(at: 100) == [1, 2, 3])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func whatACallGivesBackAtAStopStaysBeforeASuspect() throws {
        let scheduler = try self.withOneHeldBack()
        let call = try #require(scheduler.start(at: 10))
        #expect(call.sequences == [1, 2])
        scheduler.detach()
        scheduler.drain()
        scheduler.turn(at: 10)
        scheduler.answer(call, Self.done, at: 10)
        #expect([2, 3].map { scheduler.rows[$0] } == [.inHand, .inHand])
        #expect(scheduler.memoryWeight == 0)
        let next = TestScheduler(rows: scheduler.rows) { $0.isStrictlyOrdered = true }
        next.attach()
        #expect(next.run(at: 11) == [2, 3])
    }

    /// A call that outlives its agent fails while the next agent reads the retries.
    @Test func aRetryThatIsFoundTwiceBlocksOnce() throws {
        let scheduler = TestScheduler.open { $0.isStrictlyOrdered = true }
        scheduler.receive(1, 2)
        let call = try #require(scheduler.start(at: 0))
        scheduler.detach()
        scheduler.turn(at: 0)
        scheduler.attach()
        scheduler.holdsCommits = true
        scheduler.turn(at: 1)
        scheduler.reply(call, .result(.failed), at: 1)
        scheduler.holdsCommits = false
        scheduler.end(call, at: 1)
        #expect(scheduler.run(at: 100) == [1, 2])
    }

    /// The handler of message 2 could not be started after the agent stopped.
    @Test func whatIsPostponedAfterAStopStaysBeforeASuspect() throws {
        let scheduler = try self.withOneHeldBack()
        let call = try #require(scheduler.start(at: 10))
        scheduler.answer(call, Self.done, at: 10)
        #expect(call.sequence == 2)
        scheduler.detach()
        scheduler.turn(at: 10)
        scheduler.answer(call, .unstarted("no descriptors"), at: 10)
        #expect([2, 3].map { scheduler.rows[$0] } == [.inHand, .inHand])
        scheduler.attach()
        #expect(scheduler.run(at: 20) == [2, 3])
        #expect(scheduler.memoryWeight == 0)
    }

    /// Suspect 3 waits for the handler of another agent, while a retry of its source is due.
    @Test func whatIsQueuedAtAStopStaysBeforeASuspect() throws {
        let scheduler = TestScheduler { $0.isStrictlyOrdered = true }
        scheduler.rows.insert(.push(9, installation: 2))
        scheduler.attach(2)
        let other = try #require(scheduler.start(at: 0))
        scheduler.rows.insert(.push(1), .retry(at: scheduler.now))
        scheduler.rows.insert(.push(3), .inHand)
        scheduler.attach(1)
        for time in 1...5 { scheduler.turn(at: Double(time)) }
        #expect([1, 3].map { scheduler.rows[$0] } == [.inHand, .inHand])
        scheduler.detach(1)
        scheduler.turn(at: 6)
        #expect([1, 3].map { scheduler.rows[$0] } == [.inHand, .inHand])
        scheduler.attach(1)
        scheduler.answer(other, Self.done, at: 7)
        #expect(scheduler.run(at: 8) == [1, 3])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func aSuspectThatIsLeftUnstartedIsOneForTheNextRun() throws {
        let scheduler = self.handedOut()
        scheduler.detach()
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [.change(1, .inHand)])
        #expect(scheduler.rows[1] == .inHand)
        #expect(scheduler.memoryWeight == 0)
        scheduler.attach()
        #expect(scheduler.start(at: 1)?.sequences == [1])
    }

    @Test func sharingMemoryLeavesASuspectAlone() throws {
        let scheduler = TestScheduler { $0.messagesInMemory = 4 }
        for sequence in 1...2 as ClosedRange<Int64> { scheduler.rows.insert(.push(sequence), .inHand) }
        scheduler.store((3...9).map { .push($0) } + (10...19).map { .push($0, source: "b") })
        scheduler.attach()
        scheduler.turn(at: 0)
        scheduler.turn(at: 0.05)
        scheduler.turn(at: 1)
        #expect(scheduler.run(at: 1).filter { $0 < 10 } == Array(1...9))
    }

    @Test func aStopThatDoesNotWaitForIsNoCrash() throws {
        let scheduler = self.recovered(.push(1))
        _ = try #require(scheduler.start(at: 0))
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        scheduler.drain()
        scheduler.turn(at: 10)
        #expect(scheduler.changes() == [])
        scheduler.scheduler.stop()
        scheduler.turn(at: 10)
        #expect(scheduler.changes() == [.change(1, .inHand)])
    }

    @Test func anAttemptThatReturnsIsNoCrash() throws {
        let scheduler = self.recovered(
            .push(1).with {
                $0.attempts = 2
                $0.crashes = 2
            })
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 3, crashes: 3)])
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        #expect(scheduler.changes() == [.change(1, .again(after: 30, .failed), attempts: 3, crashes: 2)])
        #expect(scheduler.start(at: 30)?.attempt == 4)
        #expect(scheduler.changes() == [])
    }

    @Test(arguments: [(6, 6), (6, 0)])
    func asManyCrashesAsAttemptsMakeADeadLetter(attempts: Int, crashes: Int) {
        let scheduler = self.recovered(
            .push(1).with {
                $0.attempts = attempts
                $0.crashes = crashes
            }, .push(2))
        // Suspect 2 gets its own attempt.
        #expect(
            scheduler.changes() == [
                .change(1, .dead(.crashed), attempts: attempts, crashes: crashes),
                .change(2, .inHand, attempts: 1, crashes: 1),
            ])
    }

    @Test func aPoisonMessageEndsAndItsNeighboursDoNot() throws {
        // Message 2 ends the process in each attempt.
        var rows = TestRows()
        for sequence in 1...3 as ClosedRange<Int64> { rows.insert(.push(sequence), .inHand) }
        var starts = 0
        while !rows.unfinished.isEmpty, starts < 20 {
            starts += 1
            let scheduler = TestScheduler(rows: rows)
            scheduler.attach()
            while let call = scheduler.start(at: 0), call.sequence != 2 { scheduler.answer(call, Self.done, at: 0) }
            rows = scheduler.rows
        }
        #expect([rows[1], rows[2], rows[3]] == [.done, .dead, .done])
        #expect(starts == 7)
    }

    @Test func aSuspectThatHangsLetsTheOthersGoAfterItsDeadline() throws {
        let scheduler = self.recovered(.push(1))
        scheduler.receive(9, of: "b")
        #expect(scheduler.start(at: 0)?.sequence == 1)
        #expect(scheduler.start(at: 29) == nil)
        #expect(scheduler.start(at: 30)?.sequence == 9)
        #expect(scheduler.start(at: 30) == nil)
    }

    @Test func anotherAgentsSuspectsWaitForWhatRuns() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3)
        let call = try #require(scheduler.start(at: 0))
        scheduler.rows.insert(.push(10, installation: 2), .inHand)
        scheduler.attach(2)
        #expect(scheduler.start(at: 0) == nil)
        scheduler.answer(call, Self.done, at: 1)
        #expect(!call.isHeld)
        let alone = try #require(scheduler.start(at: 1))
        #expect(alone.sequences == [10])
        #expect(scheduler.start(at: 1) == nil)
        scheduler.answer(alone, Self.done, at: 2)
        #expect(scheduler.run(at: 2) == [2, 3])
    }

    @Test func stoppingTakesBackARunAloneThatHasNotStarted() {
        let scheduler = self.recovered(.push(1), .push(2))
        scheduler.drain()
        scheduler.turn(at: 0)
        // Suspect 2 has state `inHand` in the store already, so it needs no change.
        #expect(
            scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1), .change(1, .inHand)])
        #expect(scheduler.rows[1] == .inHand)
        #expect(scheduler.rows[2] == .inHand)
        #expect(scheduler.start(at: 0) == nil)
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func whatIsOpenedAndEndsTheProcessRunsAlone() throws {
        let scheduler = self.recovered(.push(1).with { $0.openedBy = .open })
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        #expect(scheduler.start(at: 1)?.message.openedBy == .open)
    }

    @Test func aLateSuccessOfARunAloneCounts() throws {
        let scheduler = self.recovered(.push(1))
        let alone = try #require(scheduler.start(at: 0))
        scheduler.end(alone, at: 0)
        scheduler.turn(at: 30)
        _ = scheduler.changes()
        #expect(scheduler.reply(alone, Self.done, at: 30.5))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.start(at: 31) == nil)
    }
}
