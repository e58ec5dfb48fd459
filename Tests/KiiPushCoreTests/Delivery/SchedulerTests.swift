import Testing

@testable import KiiPushCore

@Suite struct SchedulerTests {
    private typealias Attempt = MessageChange.Attempt
    private static let done = HandlerVerdict.result(.newData)

    @Test(arguments: [FetchResult.newData, .noData])
    func aSuccessEndsTheMessage(result: FetchResult) throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        #expect(call.sequences == [1])
        #expect(call.attempt == 1)
        #expect(scheduler.rows[1] == .inHand)
        #expect(scheduler.nextDeadline == .seconds(30))
        scheduler.answer(call, .result(result), at: 1)
        #expect(scheduler.changes() == [.change(1, .done(result), attempts: 1)])
        #expect(scheduler.memoryWeight == 0)
        #expect(scheduler.isIdle)
        scheduler.turn(at: 30)
        #expect(scheduler.nextDeadline == nil)
    }

    @Test func aRejectionIsADeadLetterAtOnce() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.answer(call, .rejected("no such door"), at: 1)
        #expect(scheduler.changes() == [.change(1, .dead(.rejected("no such door")), attempts: 1)])
        #expect(
            scheduler.events() == [
                .received, .started(attempt: 1), .dead(.rejected("no such door"), attempt: 1),
            ])
    }

    @Test func whatIsPresentedRestsInTheStore() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .presented, at: 1)
        #expect(scheduler.changes() == [.change(1, .presented)])
        #expect(scheduler.memoryWeight == 0)
        #expect(scheduler.events() == [.received, .started(attempt: 1), .presented])
    }

    @Test func whatReachesNobodyIsDoneAndTold() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .unreached, at: 1)
        #expect(scheduler.changes() == [.change(1, .done(.noData), attempts: 1)])
        #expect(scheduler.events() == [.received, .started(attempt: 1), .unreached(attempt: 1)])
    }

    @Test func aCommandIsForThoseWhoTakeCommands() throws {
        for takesCommands in [false, true] {
            let scheduler = TestScheduler()
            scheduler.attach(takesCommands: takesCommands)
            scheduler.turn(at: 0)
            scheduler.receive([.command(1)])
            let call = scheduler.start(at: 0)
            #expect(call?.message.isCommand == (takesCommands ? true : nil))
            #expect(scheduler.changes() == (takesCommands ? [] : [.change(1, .dead(.command))]))
            #expect(scheduler.memoryWeight == (takesCommands ? 1 : 0))
        }
    }

    @Test(arguments: [
        (HandlerVerdict.result(.failed), DeliveryFailure.failed), (.threw("E"), .threw("E")),
        (.unanswered, .unanswered),
    ])
    func aFailureIsTriedFiveMoreTimesAfterGrowingPauses(verdict: HandlerVerdict, failure: DeliveryFailure) throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        var time = 0.0
        var events = [MessageEvent.Kind.received]
        for (attempt, pause) in zip(1..., [1, 5, 30, 300, 1800]) {
            let call = try #require(scheduler.start(at: time))
            #expect(call.attempt == attempt)
            scheduler.answer(call, verdict, at: time + 2)
            #expect(scheduler.changes() == [.change(1, .again(after: pause, failure), attempts: attempt)])
            #expect(scheduler.memoryWeight == 0)
            events += [
                .started(attempt: attempt), .failed(attempt: attempt, failure, retryAfter: .seconds(pause)),
            ]
            time += 2 + Double(pause)
            #expect(scheduler.start(at: time - 0.001) == nil)
            #expect(scheduler.nextDeadline == .seconds(time))
        }
        let last = try #require(scheduler.start(at: time))
        scheduler.answer(last, verdict, at: time)
        #expect(scheduler.changes() == [.change(1, .dead(.attemptsFailed(failure)), attempts: 6)])
        #expect(scheduler.memoryWeight == 0)
        events += [.started(attempt: 6), .dead(.attemptsFailed(failure), attempt: 6)]
        #expect(scheduler.events() == events)
    }

    @Test func storedAttemptsCount() throws {
        let scheduler = TestScheduler.open()
        scheduler.store([.push(1).with { $0.attempts = 5 }])
        let call = try #require(scheduler.start(at: 0))
        #expect(call.attempt == 6)
        scheduler.answer(call, .result(.failed), at: 1)
        #expect(scheduler.changes().map(\.verdict) == [.dead(.attemptsFailed(.failed))])
    }

    @Test func aRedeliveryJoinsTheMessageInHand() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        #expect(scheduler.events() == [.received, .started(attempt: 1)])
        scheduler.joined(1)
        #expect(scheduler.start(at: 0) == nil)
        #expect(scheduler.events() == [.duplicate])
        scheduler.answer(call, Self.done, at: 1)
        #expect(scheduler.start(at: 1) == nil)
        #expect(scheduler.events() == [.done(.newData, attempt: 1, isLate: false)])
    }

    // MARK: - Handlers at once

    @Test func slowSourcesButOneDelayNoOther() throws {
        let scheduler = TestScheduler.open()
        for (index, source) in ["a", "b", "c"].enumerated() {
            scheduler.receive((0..<5).map { .push(Int64(index * 10 + $0), source: source) })
        }
        for _ in 0..<3 { #expect(scheduler.start(at: 0) != nil) }
        #expect(scheduler.start(at: 0) == nil)
        for sequence in Int64(100)..<200 {
            scheduler.receive(sequence, of: "quick")
            let call = try #require(scheduler.start(at: 1))
            #expect(call.sequences == [sequence])
            scheduler.answer(call, Self.done, at: 1)
        }
    }

    @Test func noMoreHandlersRunThanAreAllowed() throws {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 2 }
        scheduler.receive((0..<5).map { .push($0, source: "\($0)") })
        let first = try #require(scheduler.start(at: 0))
        #expect(scheduler.start(at: 0)?.sequence == 1)
        #expect(scheduler.start(at: 0) == nil)
        scheduler.answer(first, Self.done, at: 1)
        #expect(scheduler.start(at: 1)?.sequence == 2)
        #expect(scheduler.start(at: 1) == nil)
    }

    @Test func sourcesTakeTurns() throws {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 1 }
        scheduler.receive(1, 2)
        scheduler.receive(3, 4, of: "b")
        var order: [Int64] = []
        while let call = scheduler.start(at: 0) {
            order.append(call.sequence)
            scheduler.end(call, at: 0)
            #expect(scheduler.reply(call, Self.done, at: 0))
        }
        #expect(order == [1, 3, 2, 4])
    }

    @Test func equalSourcesOfTwoInstallationsAreTwo() {
        let scheduler = TestScheduler.open(installations: [1, 2])
        scheduler.receive([.push(1), .push(2, installation: 2)])
        #expect(scheduler.start(at: 0)?.sequence == 1)
        #expect(scheduler.start(at: 0)?.sequence == 2)
    }

    @Test func nothingStartsWhileTheStoreFails() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let first = try #require(scheduler.start(at: 0))
        scheduler.scheduler.isStoreFailing = true
        scheduler.receive(2, of: "b")
        #expect(scheduler.start(at: 0) == nil)
        scheduler.answer(first, .result(.failed), at: 0)
        #expect(scheduler.start(at: 5) == nil)
        #expect(scheduler.rows[1] == .retry(at: .seconds(1)))
        scheduler.scheduler.isStoreFailing = false
        #expect(scheduler.run(at: 5) == [2, 1])
    }

    // MARK: - Calls of several messages

    @Test func aCallBringsAllThatItsSourceHas() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive((1...20).map { .push($0) })
        #expect(scheduler.start(at: 0)?.sequences == Array(1...20))
        #expect(scheduler.start(at: 0) == nil)
    }

    @Test func callsGetLongerWhileHandlersAreQuickAndShorterWhenTheyAreNot() throws {
        let scheduler = TestScheduler.open()
        scheduler.scheduler.batch = 1
        scheduler.receive((1...20).map { .push($0) })
        for sequences in [[1], [2, 3], [4, 5, 6, 7]] as [[Int64]] {
            let call = try #require(scheduler.start(at: 0))
            #expect(call.sequences == sequences)
            while call.isHeld { scheduler.answer(call, Self.done, at: 0) }
        }
        let slow = try #require(scheduler.start(at: 0))
        #expect(slow.sequences == Array(8...15))
        scheduler.end(slow, at: 0)
        #expect(scheduler.reply(slow, Self.done, at: 1))
        #expect(scheduler.start(at: 1)?.sequences == Array(9...12))
    }

    @Test func whatWasNotStartedGoesBackInOrder() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3, 4)
        let call = try #require(scheduler.start(at: 0))
        scheduler.answer(call, Self.done, at: 4)
        #expect(call.sequence == 2)
        scheduler.answer(call, .result(.failed), at: 5)
        #expect(!call.isHeld)
        #expect(
            scheduler.changes() == [
                .change(1, .done(.newData), attempts: 1), .change(2, .again(after: 1, .failed), attempts: 1),
            ])
        #expect(scheduler.start(at: 5)?.sequences == [3, 4])
    }

    @Test func anAnswerDuringALongCallIsRecordedAtOnceAndThePlaceKept() throws {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 1 }
        scheduler.receive(1, 2)
        scheduler.receive(3, of: "b")
        let call = try #require(scheduler.start(at: 0))
        #expect(scheduler.reply(call, Self.done, at: 2))
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.start(at: 2) == nil)
        #expect(!scheduler.reply(call, .rejected("no"), at: 2))
        scheduler.end(call, at: 3)
        #expect(scheduler.changes() == [])
        #expect(call.sequence == 2)
    }

    // MARK: - Times of attempts

    @Test(arguments: [
        HandlerVerdict.result(.newData), .result(.noData), .result(.failed), .threw("E"), .unanswered, .rejected("no"),
        .presented, .unreached,
    ])
    func aVerdictSaysWhenItsAttemptRan(verdict: HandlerVerdict) throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 5)), verdict, at: 7)
        #expect(scheduler.attempts() == [Attempt(number: 1, startedAt: .seconds(5), endedAt: .seconds(7))])
    }

    @Test func eachMessageOfACallHasAnAttemptOfItsOwn() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2)
        let call = try #require(scheduler.start(at: 2))
        scheduler.answer(call, Self.done, at: 3)
        #expect(scheduler.attempts() == [Attempt(number: 1, startedAt: .seconds(2), endedAt: .seconds(3))])
        scheduler.answer(call, .result(.failed), at: 6)
        #expect(scheduler.attempts() == [Attempt(number: 1, startedAt: .seconds(3), endedAt: .seconds(6))])
    }

    @Test func aRetryIsTheNextAttempt() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 0)
        _ = scheduler.attempts()
        let call = try #require(scheduler.start(at: 2))
        scheduler.end(call, at: 2)
        #expect(scheduler.reply(call, Self.done, at: 4))
        #expect(scheduler.attempts() == [Attempt(number: 2, startedAt: .seconds(2), endedAt: .seconds(4))])
    }

    @Test func aDeadlineEndsAnAttemptAndALateSuccessHasNoStart() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 1))
        scheduler.end(call, at: 1)
        scheduler.turn(at: 31)
        #expect(scheduler.attempts() == [Attempt(number: 1, startedAt: .seconds(1), endedAt: .seconds(31))])
        #expect(scheduler.reply(call, Self.done, at: 31.5))
        #expect(scheduler.attempts() == [Attempt(number: 1, endedAt: .seconds(31.5))])
    }

    @Test func whatNoAttemptLedToHasNone() {
        let scheduler = TestScheduler.open()
        scheduler.receive([.push(1), .command(2)])
        scheduler.turn(at: 0)
        scheduler.drain()
        scheduler.turn(at: 0)
        #expect(scheduler.attempts() == [nil, nil])
    }
}
