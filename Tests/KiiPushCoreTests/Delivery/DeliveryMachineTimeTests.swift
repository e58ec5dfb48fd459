import KiiPushCore
import Testing

@Suite struct DeliveryMachineTimeTests {
    /// A machine whose message 1 has timed out at 30 s; its handler has returned unless it `stays`.
    private func timedOut(
        stays: Bool = false, _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) throws -> (TestMachine, call: Int) {
        let machine = TestMachine.open(change)
        machine.receive([1, 2])
        let claim = try #require(machine.claim(at: 0))
        if !stays { machine.leaveUnanswered(claim.call, at: 0) }
        #expect(machine.nextDeadline == .seconds(30))
        machine.time(29.999)
        #expect(machine.changes() == [])
        machine.time(30)
        let output = machine.output()
        #expect(output.changes == [.change(1, .retry(after: .seconds(1), failure: .timedOut), attempts: 1)])
        #expect(output.cancellations == [claim.call])
        return (machine, claim.call)
    }

    @Test func theDeadlineFailsTheAttempt() throws {
        let (machine, _) = try self.timedOut()
        #expect(machine.counters.failedAttempts == 1)
        #expect(machine.claimed(30) == [2])
    }

    @Test func aPauseGoesOnWhileTheMachineSleepsAndADeadlineDoesNot() throws {
        let (machine, _) = try self.timedOut()
        _ = try #require(machine.claim(at: 30))
        machine.machine.machineSlept(.milliseconds(900), now: .seconds(30))
        #expect(machine.nextDeadline == .seconds(30))
        machine.time(30)
        // What the store holds is looked at, since the calendar went on as well; in memory 0.1 s is left.
        #expect(machine.output().loads.map(\.kind) == [.retries])
        #expect(machine.nextDeadline == .seconds(30.1))
        machine.time(30.1)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1)])
        #expect(machine.nextDeadline == .seconds(60))
    }

    @Test(arguments: [FetchResult.newData, .noData])
    func aLateSuccessBeforeTheNextAttemptCounts(result: FetchResult) throws {
        let (machine, _) = try self.timedOut()
        #expect(machine.answerLater(1, .result(result), at: 30.5))
        #expect(machine.changes() == [.change(1, .done(result), attempts: 1)])
        #expect(!machine.answerLater(1, .result(result), at: 30.6))
        #expect(machine.claimed(31) == [2])
        machine.time(31)
        #expect(machine.commit() == [])
        #expect(machine.counters.late == 1)
    }

    @Test(arguments: [HandlerVerdict.result(.failed), .rejected("no")])
    func anyOtherLateAnswerIsRecordedOnly(verdict: HandlerVerdict) throws {
        let (machine, _) = try self.timedOut()
        machine.machine.isObserved = true
        #expect(!machine.answerLater(1, verdict, at: 30.5))
        #expect(machine.output().events.map(\.kind) == [.late(verdict, attempt: 1, counted: false)])
        machine.time(31)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1)])
        #expect(machine.claimed(31) == [1])
    }

    @Test func aLateSuccessCountsUntilTheNextAttemptStartsAndNoLonger() throws {
        let (machine, _) = try self.timedOut()
        machine.time(31)
        _ = machine.commit()
        var copy = machine.machine
        let countsWhileQueued = copy.answered(.init(sequence: 1), call: 1, .result(.newData), now: .seconds(31))
        #expect(countsWhileQueued)
        #expect(copy.claim(now: .seconds(31))?.messages.map(\.sequence) == [2])
        let claim = try #require(machine.claim(at: 31))
        #expect(claim.attempts == [2])
        machine.machine.isObserved = true
        #expect(!machine.answerLater(1, .result(.newData), at: 32))
        #expect(machine.output().events.map(\.kind) == [.late(.result(.newData), attempt: 1, counted: false)])
        machine.answer(claim.call, .result(.noData), at: 33)
        #expect(machine.changes() == [.change(1, .done(.noData), attempts: 2)])
    }

    @Test func aLateSuccessWhileTheNextAttemptIsBeingRecordedCounts() throws {
        let (machine, _) = try self.timedOut()
        machine.time(31)
        machine.held = machine.output().commitments
        #expect(machine.answerLater(1, .result(.newData), at: 31))
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1)])
        #expect(machine.claimed(31) == [2])
        #expect(machine.claimed(31) == nil)
    }

    /// Written after the success, it would have the next process handle the message again.
    @Test func whatALateSuccessHasOvertakenIsNotRecordedAnyMore() throws {
        let (machine, _) = try self.timedOut()
        machine.time(31)
        #expect(machine.answerLater(1, .result(.newData), at: 31))
        let output = machine.output()
        #expect(output.commitments == [])
        #expect(output.changes.contains(.change(1, .done(.newData), attempts: 1)))
    }

    @Test func aLateSuccessRevivesADeadLetter() throws {
        let (machine, _) = try self.timedOut { $0.retryDelays = [.seconds(1)] }
        machine.time(31)
        _ = machine.commit()
        let claim = try #require(machine.claim(at: 31))
        machine.leaveUnanswered(claim.call, at: 31)
        machine.time(61)
        #expect(machine.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 2)])
        #expect(machine.answerLater(1, call: claim.call, .result(.newData), at: 99))
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 2)])
    }

    @Test func lettingGoAfterTheDeadlineSaysNothing() throws {
        let (machine, _) = try self.timedOut()
        #expect(!machine.answerLater(1, .unanswered, at: 30.5))
        #expect(!machine.answerLater(1, .result(.newData), at: 30.6))
        #expect(machine.counters.late == 0)
        #expect(machine.counters.failedAttempts == 1)
    }

    @Test func aSecondAnswerIsNeitherCountedNorLate() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(claim.call, at: 0)
        #expect(machine.answerLater(1, .result(.noData), at: 1))
        #expect(!machine.answerLater(1, .result(.newData), at: 1))
        #expect(machine.counters.late == 0)
        #expect(machine.changes() == [.change(1, .done(.noData), attempts: 1)])
    }

    @Test func aRetryWaitsForTheOldCallToReturn() throws {
        let (machine, call) = try self.timedOut(stays: true)
        machine.time(31)
        _ = machine.commit()
        #expect(machine.claim(at: 31) == nil)
        machine.end(call, [], position: 0, at: 100)
        #expect(machine.claimed(100) == [1])
        #expect(machine.counters.stuck == 0)
    }

    @Test func afterFiveMinutesAFreshThreadTakesOver() throws {
        let (machine, call) = try self.timedOut(stays: true)
        machine.machine.isObserved = true
        machine.time(31)
        _ = machine.commit()
        #expect(machine.nextDeadline == .seconds(330))
        machine.time(329)
        #expect(machine.claim(at: 329) == nil)
        machine.time(330)
        #expect(machine.output().events.map(\.kind) == [.stuck(attempt: 1)])
        #expect(machine.stuckCount == 1)
        #expect(machine.claimed(330) == [1])
        machine.end(call, [], position: 0, at: 400)
        #expect(machine.stuckCount == 0)
        #expect(machine.counters.stuck == 1)
    }

    @Test func noMoreThreadsThanAllowedAreGivenUpToStuckCalls() throws {
        let (machine, call) = try self.timedOut(stays: true) { $0.maximumStuckCalls = 0 }
        machine.time(31)
        _ = machine.commit()
        machine.time(330)
        #expect(machine.output().stalls == [.stuckCalls(0)])
        #expect(machine.nextDeadline == nil)
        machine.time(100_000)
        #expect(machine.output().stalls == [])
        #expect(machine.claim(at: 100_000) == nil)
        #expect(machine.counters.stuck == 0)
        machine.end(call, [], position: 0, at: 100_001)
        #expect(machine.output().stalls == [nil])
        #expect(machine.claimed(100_001) == [1])
    }

    @Test func aCallThatKeptItsPlaceLosesItWhenAnotherReturns() throws {
        let machine = TestMachine.open { $0.maximumStuckCalls = 1 }
        machine.receive([1, TestMessage(sequence: 2, source: "b")])
        let first = try #require(machine.claim(at: 0))
        let second = try #require(machine.claim(at: 1))
        machine.time(31)
        machine.time(330)
        #expect(machine.stuckCount == 1)
        #expect(machine.output().stalls == [])
        machine.time(331)
        #expect(machine.output().stalls == [.stuckCalls(1)])
        #expect(machine.machine.isRunning(second.call))
        machine.end(first.call, [], position: 0, at: 400)
        #expect(machine.output().stalls == [nil])
        machine.time(try #require(machine.nextDeadline.map { Double($0.nanoseconds) / 1_000_000_000 }))
        #expect(machine.stuckCount == 1)
        #expect(!machine.machine.isRunning(second.call))
    }

    @Test func theTotalLimitEndsAttemptsAndRetries() throws {
        let machine = TestMachine(.memoryInbox)
        machine.machine.attached(1)
        machine.answerLoads()
        machine.receive([1])
        let first = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(first.call, at: 0)
        machine.time(30)
        machine.time(31)
        _ = machine.commit()
        let second = try #require(machine.claim(at: 31))
        #expect(second.deadline == .seconds(60))
        machine.leaveUnanswered(second.call, at: 31)
        machine.time(60)
        #expect(machine.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 2)])
    }

    @Test func anAttemptThatStartsAfterTheTotalLimitKeepsItsSourceUntilItsCallReturns() throws {
        let machine = TestMachine.open { $0 = .memoryInbox }
        machine.receive([1])
        machine.answer(try #require(machine.claim(at: 0)).call, .result(.failed), at: 0)
        machine.receive([2, 3])
        // Message 2 never returns, and holds up the retry of message 1 for far longer than that has.
        _ = try #require(machine.claim(at: 0.5))
        machine.time(31)
        _ = machine.commit()
        machine.time(330.5)
        let late = try #require(machine.claim(at: 330.5))
        #expect(late.messages.map(\.sequence) == [1])
        machine.time(330.5)
        machine.time(630.4)
        #expect(machine.counters.stuck == 1)
        #expect(machine.claim(at: 630.4) == nil)
        machine.machine.returned(late.call, now: .seconds(630.4))
        #expect(machine.claimed(630.4)?.first == 3)
    }

    @Test func whatCannotBeShownInTimeIsTakenUpByAnotherThreadAndHasFailedNoAttempt() throws {
        for maximum in [0, 64] {
            let machine = TestMachine.open { $0.maximumStuckCalls = maximum }
            machine.receive([1, 2])
            let claim = try #require(machine.claim(at: 0))
            let progress = DeliveryProgress(answers: [], position: 0, startedAt: .seconds(0), isPresenting: true)
            machine.machine.reported(claim.call, progress, now: .seconds(30))
            machine.time(30)
            #expect(machine.changes() == [])
            #expect(machine.counters.failedAttempts == 0)
            if maximum == 0 {
                // It keeps its place, and its source, until it returns.
                #expect(machine.claim(at: 31) == nil)
                machine.machine.returned(claim.call, progress, now: .seconds(31))
            }
            let second = try #require(machine.claim(at: 31))
            #expect(second.messages.map(\.sequence).first == 1)
            #expect(second.attempts.first == 1)
            // What comes of it in the end changes nothing.
            #expect(!machine.answerLater(1, call: claim.call, .presented, at: 32))
            machine.answer(second.call, .result(.newData), at: 33)
            #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
        }
    }
}
