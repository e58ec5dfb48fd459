import Testing

@testable import KiiPushCore

@Suite struct SchedulerShortageTests {
    private static let done = HandlerVerdict.result(.newData)
    private static let unstarted = HandlerVerdict.unstarted("no descriptors")

    private func scheduler(_ count: Int64) -> TestScheduler {
        let scheduler = TestScheduler.open { $0.concurrentHandlers = 10 }
        scheduler.receive((1...count).map { .push($0, source: "s-\($0)") })
        return scheduler
    }

    @Test func costNoAttemptAndAreTriedAgainAfterASecond() throws {
        let scheduler = self.scheduler(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), Self.unstarted, at: 0)
        #expect(scheduler.changes() == [])
        #expect(scheduler.stalls() == ["no descriptors"])
        #expect(scheduler.start(at: 0.9) == nil)
        #expect(scheduler.nextDeadline == .seconds(1))
        for time in [1.0, 2] {
            let call = try #require(scheduler.start(at: time))
            #expect(call.attempt == 1)
            #expect(scheduler.stalls() == [])
            scheduler.answer(call, time == 1 ? Self.unstarted : Self.done, at: time)
        }
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        scheduler.turn(at: 3)
        #expect(scheduler.stalls() == [nil])
        #expect(
            scheduler.events() == [
                .received, .started(attempt: 1), .started(attempt: 1), .started(attempt: 1),
                .done(.newData, attempt: 1, isLate: false),
            ])
    }

    @Test func leaveTheOthersTheirPlaces() throws {
        let scheduler = self.scheduler(4)
        let calls = try (1...3).map { _ in try #require(scheduler.start(at: 0)) }
        scheduler.answer(calls[2], Self.unstarted, at: 0)
        // Two handlers are running, so the limit is two until the pause ends.
        #expect(scheduler.start(at: 0) == nil)
        scheduler.answer(calls[0], Self.done, at: 0.5)
        #expect(scheduler.start(at: 0.5)?.sequence == 4)
        #expect(scheduler.start(at: 0.5) == nil)
        #expect(scheduler.start(at: 1)?.sequence == 3)
    }

    /// A verdict with `retryAfter` delays the next attempt, and each new pause is reported.
    @Test func ofAHandlerThatWantsAPauseLastUntilItsEnd() throws {
        let scheduler = self.scheduler(3)
        let calls = try (1...2).map { _ in try #require(scheduler.start(at: 0)) }
        let pauses = ["until 1", "until 2"].map { HandlerVerdict.unstarted($0, retryAfter: .seconds(60)) }
        scheduler.answer(calls[1], pauses[0], at: 0)
        #expect(scheduler.stalls() == ["until 1"])
        scheduler.answer(calls[0], Self.done, at: 1)
        #expect(scheduler.start(at: 59) == nil)
        #expect(scheduler.nextDeadline == .seconds(60))
        let third = try #require(scheduler.start(at: 60))
        #expect(third.attempt == 1)
        scheduler.answer(third, pauses[1], at: 60)
        #expect(scheduler.stalls() == ["until 2"])
        #expect(scheduler.start(at: 119) == nil)
        #expect(scheduler.start(at: 120)?.attempt == 1)
    }

    @Test func ofAHandlerThatWantsAPauseEndWhenTheMachineHasSlept() throws {
        let scheduler = self.scheduler(1)
        let pause = HandlerVerdict.unstarted("until 1", retryAfter: .seconds(60))
        scheduler.answer(try #require(scheduler.start(at: 0)), pause, at: 0)
        #expect(scheduler.start(at: 1) == nil)
        scheduler.sleep(.seconds(3600))
        #expect(scheduler.start(at: 1)?.attempt == 1)
    }

    @Test func keepTheirPlaceInTheirSource() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3)
        let call = try #require(scheduler.start(at: 0))
        scheduler.end(call, at: 0)
        scheduler.reply(call, Self.unstarted, at: 0)
        #expect(scheduler.start(at: 1)?.sequences == [1, 2, 3])
    }

    @Test func ofAMessageThatRunsAloneTakeTheAttemptBack() throws {
        let scheduler = TestScheduler()
        scheduler.rows.insert(
            .push(1).with {
                $0.attempts = 2
                $0.crashes = 2
            }, .inHand)
        scheduler.attach()
        let first = try #require(scheduler.start(at: 0))
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 3, crashes: 3)])
        scheduler.answer(first, Self.unstarted, at: 0)
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 2, crashes: 2)])
        #expect(scheduler.start(at: 0.5) == nil)
        #expect(scheduler.start(at: 1)?.attempt == 3)
        #expect(scheduler.changes() == [.change(1, .inHand, attempts: 3, crashes: 3)])
    }

    @Test func areGivenBackWhenDeliveryStops() throws {
        let scheduler = self.scheduler(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.drain()
        scheduler.answer(call, Self.unstarted, at: 0)
        #expect(scheduler.changes() == [.change(1, .back(to: "s-1"))])
        #expect(scheduler.isIdle)
    }
}
