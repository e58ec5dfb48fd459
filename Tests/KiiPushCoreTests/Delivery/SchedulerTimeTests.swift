import Testing

@testable import KiiPushCore

@Suite struct SchedulerTimeTests {
    private static let done = HandlerVerdict.result(.newData)

    /// Message 1 has timed out at 30 s, and message 2 waits behind it. The handler of message 1 has returned unless
    /// `stays` is true.
    private func timedOut(
        stays: Bool = false, _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) throws -> (TestScheduler, TestCall) {
        let scheduler = TestScheduler.open(change)
        scheduler.receive(1, 2)
        let call = try #require(scheduler.start(at: 0))
        if !stays { scheduler.end(call, at: 0) }
        #expect(scheduler.nextDeadline == .seconds(30))
        scheduler.turn(at: 29.999)
        #expect(scheduler.changes() == [])
        scheduler.turn(at: 30)
        #expect(scheduler.changes() == [.change(1, .again(after: 1, .timedOut), attempts: 1)])
        return (scheduler, call)
    }

    private static let timedOut: [MessageEvent.Kind] = [
        .received, .received, .started(attempt: 1), .failed(attempt: 1, .timedOut, retryAfter: .seconds(1)),
    ]

    @Test func theDeadlineFailsTheAttempt() throws {
        let (scheduler, _) = try self.timedOut()
        #expect(scheduler.events() == Self.timedOut)
        #expect(scheduler.start(at: 30)?.sequences == [2])
    }

    @Test func aLateSuccessEndsAMessageWhoseRetryIsJustBeingClaimed() throws {
        let (scheduler, call) = try self.timedOut()
        scheduler.answer(try #require(scheduler.start(at: 30)), Self.done, at: 30)
        _ = scheduler.changes()
        scheduler.holdsCommits = true
        scheduler.turn(at: 31)
        // A remote store answers in a later turn.
        let claims = scheduler.claims
        scheduler.claims = []
        #expect(claims.map(\.kind) == [.retries])
        let answers = claims.map { scheduler.rows.answer($0, at: scheduler.now) }
        #expect(scheduler.reply(call, Self.done, at: 31))
        for (claim, answer) in zip(claims, answers) { scheduler.scheduler.claimed(claim, answer) }
        scheduler.holdsCommits = false
        #expect(scheduler.start(at: 31) == nil)
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.finished == [])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func theDeadlineIsThatOfTheMessageThatRuns() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3, 4)
        let call = try #require(scheduler.start(at: 0))
        scheduler.answer(call, Self.done, at: 10)
        scheduler.answer(call, Self.done, at: 20)
        _ = scheduler.changes()
        #expect(call.sequence == 3)
        for time in [30, 40, 49.999] { scheduler.turn(at: time) }
        #expect(scheduler.changes() == [])
        scheduler.turn(at: 50)
        #expect(scheduler.changes() == [.change(3, .again(after: 1, .timedOut), attempts: 1)])
        // The source is busy until the call returns. Then message 4 starts.
        #expect(scheduler.start(at: 50) == nil)
        scheduler.end(call, at: 50.5)
        #expect(!call.isHeld)
        #expect(scheduler.start(at: 50.5)?.sequences == [4])
    }

    @Test func aCallThatWaitsForAWorkerIsNotOverdue() throws {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 1 }
        scheduler.receive(1)
        scheduler.receive(2, of: "b")
        let call = try #require(scheduler.start(at: 0))
        scheduler.end(call, at: 0)
        scheduler.turn(at: 29)
        #expect(scheduler.reply(call, Self.done, at: 29))
        scheduler.turn(at: 31)
        let second = try #require(scheduler.start(at: 59))
        scheduler.turn(at: 61)
        scheduler.answer(second, Self.done, at: 88)
        #expect(scheduler.changes().map(\.verdict) == [.done(.newData), .done(.newData)])
    }

    @Test func aHandlerThatReturnsWhileItsDeadlineIsLookedAtLeavesItsPlace() throws {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 1 }
        scheduler.receive(1, 2)
        let call = try #require(scheduler.start(at: 0))
        scheduler.whenOverdue = { if call.isHeld { scheduler.endBetweenTurns(call) } }
        scheduler.turn(at: 30)
        #expect(scheduler.changes() == [.change(1, .again(after: 1, .timedOut), attempts: 1)])
        #expect(scheduler.start(at: 30)?.sequences == [2])
    }

    @Test func aPauseGoesOnWhileTheMachineSleepsAndADeadlineDoesNot() throws {
        let (scheduler, _) = try self.timedOut()
        _ = try #require(scheduler.start(at: 30))
        scheduler.sleep(.milliseconds(900))
        #expect(scheduler.nextDeadline == .seconds(30))
        scheduler.turn(at: 30)
        // The scheduler reads the retries, because the calendar advanced during the sleep.
        #expect(scheduler.asked.last?.kind == .retries)
        #expect(scheduler.rows[1] == .retry(at: .seconds(30.1)))
        #expect(scheduler.nextDeadline == .seconds(30.1))
        scheduler.turn(at: 30.1)
        #expect(scheduler.rows[1] == .inHand)
        scheduler.turn(at: 31)
        #expect(scheduler.nextDeadline == .seconds(60))
    }

    // MARK: - Late answers

    @Test(arguments: [HandlerVerdict.result(.failed), .rejected("no")])
    func anyOtherLateAnswerIsRecordedOnly(verdict: HandlerVerdict) throws {
        let (scheduler, call) = try self.timedOut()
        _ = scheduler.events()
        #expect(!scheduler.reply(call, verdict, at: 30.5))
        #expect(scheduler.events() == [.late(attempt: 1)])
        #expect(scheduler.run(at: 30.5) == [2])
        #expect(scheduler.start(at: 31)?.attempt == 2)
    }

    @Test(arguments: [FetchResult.newData, .noData])
    func aLateSuccessCountsUntilTheNextAttemptStarts(result: FetchResult) throws {
        let (scheduler, call) = try self.timedOut()
        // The retry waits for the call with message 2.
        scheduler.turn(at: 31)
        #expect(scheduler.rows[1] == .inHand)
        #expect(scheduler.reply(call, .result(result), at: 31))
        #expect(scheduler.changes() == [.change(1, .done(result), attempts: 1)])
        #expect(scheduler.run(at: 31) == [2])
    }

    @Test func aLateSuccessCountsAlsoWhileTheRetryWaitsForAWorker() throws {
        let (scheduler, call) = try self.timedOut()
        #expect(scheduler.run(at: 30) == [2])
        _ = scheduler.changes()
        scheduler.turn(at: 31)
        #expect(!scheduler.isIdle)
        #expect(scheduler.reply(call, Self.done, at: 31))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.start(at: 31) == nil)
        #expect(scheduler.isIdle)
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func aLateSuccessRevivesADeadLetter() throws {
        let (scheduler, _) = try self.timedOut { $0.retryDelays = [.seconds(1)] }
        #expect(scheduler.run(at: 30) == [2])
        let second = try #require(scheduler.start(at: 31))
        scheduler.end(second, at: 31)
        _ = scheduler.changes()
        scheduler.turn(at: 61)
        #expect(scheduler.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 2)])
        #expect(scheduler.reply(second, Self.done, at: 99))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 2)])
    }

    @Test func lettingGoAfterTheDeadlineSaysNothing() throws {
        let (scheduler, call) = try self.timedOut()
        #expect(!scheduler.reply(call, .unanswered, at: 30.5))
        #expect(!scheduler.reply(call, Self.done, at: 30.6))
        #expect(scheduler.events() == Self.timedOut)
    }

    @Test func settingAsideAfterTheDeadlineDoesNotCount() throws {
        let (scheduler, call) = try self.timedOut()
        #expect(!scheduler.reply(call, .setAside, at: 30.5))
        #expect(scheduler.changes() == [])
    }

    @Test func aSecondAnswerIsNeitherCountedNorLate() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.end(call, at: 0)
        #expect(scheduler.reply(call, .result(.noData), at: 1))
        #expect(!scheduler.reply(call, Self.done, at: 1))
        #expect(
            scheduler.events() == [
                .received, .started(attempt: 1), .done(.noData, attempt: 1, isLate: false),
            ])
        #expect(scheduler.changes() == [.change(1, .done(.noData), attempts: 1)])
    }

    // MARK: - Calls that do not return

    @Test func aRetryWaitsForTheOldCallToReturn() throws {
        let (scheduler, call) = try self.timedOut(stays: true)
        #expect(scheduler.start(at: 31) == nil)
        scheduler.end(call, at: 100)
        #expect(scheduler.start(at: 100)?.sequence == 1)
        #expect(scheduler.events() == Self.timedOut + [.started(attempt: 2)])
    }

    @Test func afterFiveMinutesAFreshThreadTakesOver() throws {
        let (scheduler, call) = try self.timedOut(stays: true)
        scheduler.turn(at: 31)
        #expect(scheduler.nextDeadline == .seconds(330))
        #expect(scheduler.start(at: 329) == nil)
        _ = scheduler.events()
        scheduler.turn(at: 330)
        #expect(scheduler.events() == [.stuck(attempt: 1)])
        #expect(scheduler.stuckCount == 1)
        #expect(scheduler.runningLimit == 5)
        #expect(scheduler.start(at: 330)?.sequences == [1, 2])
        scheduler.end(call, at: 340)
        #expect(scheduler.stuckCount == 0)
        #expect(scheduler.runningLimit == 4)
        #expect(scheduler.events() == [.started(attempt: 2)])
    }

    @Test func noMoreThreadsThanAllowedAreGivenUpToStuckCalls() throws {
        let (scheduler, call) = try self.timedOut(stays: true) { $0.maximumStuckCalls = 0 }
        scheduler.turn(at: 31)
        scheduler.turn(at: 330)
        #expect(scheduler.stalls() == [Scheduler.stuckCalls(0)])
        #expect(scheduler.nextDeadline == nil)
        #expect(scheduler.start(at: 100_000) == nil)
        #expect(scheduler.stalls() == [])
        #expect(scheduler.events() == Self.timedOut)
        scheduler.end(call, at: 100_001)
        #expect(scheduler.stalls() == [nil])
        #expect(scheduler.start(at: 100_001)?.sequence == 1)
    }

    /// Handlers cannot be started, and a call does not return. The stall ends with the later of the two.
    @Test func aStallEndsWithTheLastOfItsCauses() throws {
        let (scheduler, call) = try self.timedOut(stays: true) { $0.maximumStuckCalls = 0 }
        scheduler.turn(at: 31)
        scheduler.turn(at: 330)
        #expect(scheduler.stalls() == [Scheduler.stuckCalls(0)])
        scheduler.scheduler.shortage = HandlerShortage(over: .seconds(400), stall: "no descriptors")
        scheduler.end(call, at: 340)
        #expect(scheduler.stalls() == [])
        scheduler.turn(at: 400)
        #expect(scheduler.stalls() == [nil])
    }

    @Test func aCallThatKeptItsPlaceLosesItWhenAnotherReturns() throws {
        let scheduler = TestScheduler.open { $0.maximumStuckCalls = 1 }
        scheduler.receive(1)
        scheduler.receive(2, of: "b")
        let first = try #require(scheduler.start(at: 0))
        _ = try #require(scheduler.start(at: 1))
        scheduler.turn(at: 31)
        scheduler.turn(at: 330)
        #expect(scheduler.stuckCount == 1)
        #expect(scheduler.stalls() == [])
        scheduler.turn(at: 331)
        #expect(scheduler.stalls() == [Scheduler.stuckCalls(1)])
        #expect(scheduler.start(at: 331)?.sequence == 1)
        #expect(scheduler.start(at: 331) == nil)
        scheduler.end(first, at: 340)
        #expect(scheduler.stalls() == [nil])
        // A deadline in the past makes the loop take another turn.
        #expect(try #require(scheduler.nextDeadline) <= .seconds(340))
        scheduler.turn(at: 340)
        #expect(scheduler.stuckCount == 1)
        #expect(scheduler.start(at: 340)?.sequence == 2)
    }

    @Test(arguments: [0, 64])
    func whatCannotBeShownInTimeIsTakenUpByAnotherThreadAndHasFailedNoAttempt(maximum: Int) throws {
        let scheduler = TestScheduler.open { $0.maximumStuckCalls = maximum }
        scheduler.receive(1, 2)
        let call = try #require(scheduler.start(at: 0))
        let isShown = scheduler.present(call) {
            scheduler.turn(at: 30)
            return true
        }
        #expect(isShown == nil)
        #expect(scheduler.changes() == [])
        #expect(
            scheduler.events() == [.received, .received, .started(attempt: 1)]
                + (maximum == 0 ? [] : [.stuck(attempt: 1)]))
        if maximum == 0 {
            // The call keeps its place and its source until it returns.
            #expect(scheduler.start(at: 31) == nil)
            scheduler.end(call, at: 31)
        }
        let second = try #require(scheduler.start(at: 31))
        #expect(second.sequences == [1, 2])
        #expect(second.attempt == 1)
        #expect(!scheduler.reply(call, .presented, at: 32))
        scheduler.answer(second, Self.done, at: 33)
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
    }

    // MARK: - The time for all attempts

    @Test func theTotalLimitEndsAttemptsAndRetries() throws {
        let scheduler = TestScheduler.open { $0 = .memoryInbox }
        scheduler.receive(1)
        let first = try #require(scheduler.start(at: 0))
        scheduler.end(first, at: 0)
        scheduler.turn(at: 30)
        let second = try #require(scheduler.start(at: 31))
        #expect(second.message.firstStart == .seconds(0))
        #expect(scheduler.nextDeadline == .seconds(60))
        scheduler.end(second, at: 31)
        _ = scheduler.changes()
        scheduler.turn(at: 60)
        #expect(scheduler.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 2)])
    }

    @Test func anAttemptThatStartsAfterTheTotalLimitKeepsItsSourceUntilItsCallReturns() throws {
        let scheduler = TestScheduler.open { $0 = .memoryInbox }
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        scheduler.receive(2, 3)
        // Message 2 never returns, and delays the retry of message 1 beyond the limit for its attempts.
        _ = try #require(scheduler.start(at: 0.5))
        scheduler.turn(at: 31)
        let late = try #require(scheduler.start(at: 330.5))
        #expect(late.sequence == 1)
        #expect(scheduler.rows[1] == .dead)
        #expect(scheduler.start(at: 630.4) == nil)
        let stuck = [MessageEvent.Kind.stuck(attempt: 1), .stuck(attempt: 2)]
        #expect(scheduler.events().filter(stuck.contains) == [.stuck(attempt: 1)])
        scheduler.end(late, at: 630.4)
        #expect(scheduler.start(at: 630.4) != nil)
    }
}
