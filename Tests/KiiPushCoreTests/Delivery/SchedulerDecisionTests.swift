import Testing

@testable import KiiPushCore

@Suite struct SchedulerDecisionTests {
    private static let done = HandlerVerdict.result(.newData)

    @Test func aMessageIsLetGoOfUnlessItsHandlerRuns() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 3))
        scheduler.receive(2)
        scheduler.turn(at: 3)
        #expect(scheduler.release(1) == .seconds(3))
        #expect(scheduler.release(2) == nil)
        #expect(scheduler.release(9) == nil)
        scheduler.answer(call, Self.done, at: 5)
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.start(at: 5) == nil)
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func aMessageBehindTheOneThatRunsDoesNotRun() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2)
        _ = try #require(scheduler.start(at: 3))
        #expect(scheduler.release(2) == nil)
    }

    @Test func aMessageThatIsToRunAloneIsLetGoOf() {
        let scheduler = TestScheduler()
        for sequence in 1...3 as ClosedRange<Int64> { scheduler.rows.insert(.push(sequence), .inHand) }
        scheduler.attach()
        scheduler.holdsCommits = true
        scheduler.turn(at: 0)
        for _ in 1...2 {
            scheduler.commit()
            scheduler.settle()
        }
        // The attempt of message 1 is being written, and the other messages wait for message 1.
        #expect(scheduler.release(1) == nil)
        #expect(scheduler.release(3) == nil)
        scheduler.holdsCommits = false
        #expect(scheduler.run(at: 0) == [2])
        #expect(scheduler.memoryWeight == 0)
    }

    /// A message whose only attempt timed out, while a completion of that attempt still exists.
    private func deadLetter() throws -> (TestScheduler, TestCall) {
        let scheduler = TestScheduler.open { $0.retryDelays = [] }
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.end(call, at: 0)
        scheduler.turn(at: 30)
        #expect(scheduler.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 1)])
        return (scheduler, call)
    }

    @Test func aLateSuccessStillEndsADeadLetter() throws {
        let (scheduler, call) = try self.deadLetter()
        #expect(scheduler.reply(call, Self.done, at: 31))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
    }

    @Test(arguments: [
        HandlerVerdict.result(.newData), .result(.failed), .rejected("no"), .threw("E"), .unanswered,
    ])
    func anAnswerToTheAttemptBeforeDoesNotEndOneThatIsTriedAgain(verdict: HandlerVerdict) throws {
        for hasStarted in [false, true] {
            let (scheduler, before) = try self.deadLetter()
            scheduler.requeue(1)
            scheduler.turn(at: 31)
            let early = hasStarted ? scheduler.start(at: 33) : nil
            #expect(!scheduler.reply(before, verdict, at: 34))
            #expect(scheduler.changes() == [])
            let call = try #require(early ?? scheduler.start(at: 34))
            #expect(call.attempt == 1)
            scheduler.answer(call, .result(.noData), at: 35)
            #expect(scheduler.changes() == [.change(1, .done(.noData), attempts: 1)])
        }
    }

    @Test func anAnswerJustAfterAPersonDecidesIsTooLate() throws {
        let (scheduler, before) = try self.deadLetter()
        scheduler.requeue(1)
        #expect(!scheduler.replyBetweenTurns(before, Self.done))
        let call = try #require(scheduler.start(at: 34))
        scheduler.answer(call, .result(.noData), at: 35)
        #expect(scheduler.changes() == [.change(1, .done(.noData), attempts: 1)])
        #expect(scheduler.finished == [])
    }

    @Test func aPersonsDecisionOutdatesAnAnswerJustBeforeIt() throws {
        let (scheduler, before) = try self.deadLetter()
        #expect(scheduler.replyBetweenTurns(before, Self.done))
        scheduler.requeue(1)
        let call = try #require(scheduler.start(at: 34))
        #expect(call.attempt == 1)
        scheduler.answer(call, .result(.noData), at: 35)
        #expect(scheduler.changes() == [.change(1, .done(.noData), attempts: 1)])
    }

    @Test func aSuspectThatIsTriedAgainIsNoneAnyMore() throws {
        let scheduler = TestScheduler { $0.isStrictlyOrdered = true }
        for sequence in 1...2 as ClosedRange<Int64> { scheduler.rows.insert(.push(sequence), .inHand) }
        scheduler.attach()
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        #expect(scheduler.heldSuspects == [2])
        #expect(scheduler.release(2) == nil)
        #expect(scheduler.heldSuspects == [])
    }

    @Test func lettingGoOfTheCompletionBeforeLeavesTheNewOneItsLateAnswer() throws {
        let (scheduler, before) = try self.deadLetter()
        scheduler.requeue(1)
        let call = try #require(scheduler.start(at: 33))
        scheduler.end(call, at: 33)
        scheduler.turn(at: 63)
        #expect(scheduler.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 1)])
        #expect(!scheduler.reply(before, .unanswered, at: 64))
        #expect(!scheduler.reply(before, Self.done, at: 64))
        #expect(scheduler.reply(call, Self.done, at: 65))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
    }
}

@Suite struct SchedulerSetAsideTests {
    /// The handler deferred message 1, which had failed twice.
    private func scheduler() throws -> TestScheduler {
        let scheduler = TestScheduler.open { $0.isStrictlyOrdered = true }
        scheduler.store([.push(1).with { $0.attempts = 2 }, .push(2)])
        let call = try #require(scheduler.start(at: 0))
        #expect(call.sequences == [1, 2])
        scheduler.answer(call, .setAside, at: 0)
        #expect(scheduler.changes() == [.change(1, .setAside, attempts: 2)])
        #expect(call.sequence == 2)
        #expect(scheduler.memoryWeight == 1)
        scheduler.answer(call, .result(.newData), at: 0)
        _ = scheduler.changes()
        return scheduler
    }

    @Test func itIsReadByNobodyAndWhatComesGoesPastIt() throws {
        let scheduler = try self.scheduler()
        scheduler.receive(3)
        scheduler.turn(at: 0)
        #expect(scheduler.rows[3] == .inHand)
        scheduler.store([.push(4)])
        #expect(scheduler.run(at: 0) == [3, 4])
        #expect(scheduler.rows[1] == .waiting)
    }

    @Test func aPersonWhoHasItTriedAgainBringsIt() throws {
        let scheduler = try self.scheduler()
        #expect(scheduler.release(1) == nil)
        if let message = scheduler.rows.message(1) { scheduler.appeared(message) }
        #expect(scheduler.start(at: 0)?.attempt == 3)
    }

    @Test func theNextRunBringsIt() throws {
        let scheduler = try self.scheduler()
        scheduler.detach()
        scheduler.attach()
        #expect(scheduler.start(at: 0)?.attempt == 3)
        #expect(scheduler.changes() == [.change(1, .back(), attempts: 2)])
    }

    @Test func oneThatRanAloneKeepsItsCrashes() throws {
        let scheduler = TestScheduler()
        scheduler.rows.insert(
            .push(1).with {
                $0.attempts = 1
                $0.crashes = 1
            }, .inHand)
        scheduler.attach()
        let call = try #require(scheduler.start(at: 0))
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 2, crashes: 2)])
        scheduler.answer(call, .setAside, at: 0)
        #expect(scheduler.changes() == [.change(1, .setAside, attempts: 1, crashes: 1)])
    }
}
