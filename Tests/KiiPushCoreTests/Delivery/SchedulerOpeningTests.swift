import Testing

@testable import KiiPushCore

@Suite struct SchedulerOpeningTests {
    private static let done = HandlerVerdict.result(.newData)
    private static let reply = UserAction.custom("reply")

    /// The change for an opening. The scheduler writes it at once, and again with `isRecorded` when the attempt of a
    /// message in memory ends.
    private func opened(_ sequence: Int64 = 1, isRecorded: Bool = false) -> MessageChange {
        .change(sequence, .opened(.push(sequence), by: Self.reply, isRecorded: isRecorded))
    }

    private func presented() throws -> TestScheduler {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .presented, at: 1)
        #expect(scheduler.changes() == [.change(1, .presented)])
        return scheduler
    }

    @Test func whatIsOpenedIsReadBackFirst() throws {
        let scheduler = try self.presented()
        let source = try #require(StoredMessage.push(1).source)
        scheduler.opened(by: Self.reply)
        let call = try #require(scheduler.start(at: 3))
        #expect(scheduler.changes() == [self.opened()])
        #expect(scheduler.asked.suffix(2).map(\.kind) == [.row(1), .source(source, before: nil)])
        #expect(call.sequence == 1)
        #expect(call.message.openedBy == Self.reply)
        #expect(scheduler.events().count { $0 == .opened(Self.reply) } == 1)
    }

    @Test func whatIsOpenedGoesBeforeWhatCameAfterIt() throws {
        let scheduler = try self.presented()
        scheduler.scheduler.batch = 1
        scheduler.receive(2, 3, 4)
        scheduler.turn(at: 2)
        scheduler.opened(by: Self.reply)
        // A worker already had message 2 before the opening.
        #expect(scheduler.run(at: 3) == [2, 1, 3, 4])
    }

    @Test func whatIsOpenedBeforeItsVerdictIsOpenedAfterIt() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.opened(by: Self.reply)
        scheduler.turn(at: 0)
        // Written at once, so that a crash does not lose the opening.
        #expect(scheduler.changes() == [self.opened()])
        #expect(scheduler.rows[1] == .inHand)
        scheduler.answer(call, .presented, at: 1)
        // The second change adds no event to the record.
        #expect(scheduler.changes() == [.change(1, .presented), self.opened(isRecorded: true)])
        #expect(scheduler.start(at: 1)?.message.openedBy == Self.reply)
    }

    /// A message whose attempt timed out, while a completion of that attempt still exists.
    private func timedOut(_ change: (TestScheduler) -> Void = { _ in }) throws -> (TestScheduler, TestCall) {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        change(scheduler)
        scheduler.end(call, at: 0)
        scheduler.turn(at: 30)
        _ = scheduler.changes()
        return (scheduler, call)
    }

    @Test func anAnswerJustAfterTheOpeningDoesNotUndoIt() throws {
        let (scheduler, before) = try self.timedOut()
        scheduler.opened(by: Self.reply)
        #expect(!scheduler.replyBetweenTurns(before, Self.done))
        #expect(scheduler.start(at: 30)?.message.openedBy == Self.reply)
        #expect(scheduler.changes() == [self.opened()])
    }

    @Test func anAnswerJustBeforeTheOpeningDoesNotUndoIt() throws {
        let (scheduler, before) = try self.timedOut()
        #expect(scheduler.replyBetweenTurns(before, Self.done))
        scheduler.opened(by: Self.reply)
        #expect(scheduler.start(at: 30)?.message.openedBy == Self.reply)
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1), self.opened()])
    }

    @Test func theAttemptThatAnOpeningWaitedForHasNoLateAnswer() throws {
        let (scheduler, before) = try self.timedOut { $0.opened(by: Self.reply) }
        #expect(!scheduler.replyBetweenTurns(before, Self.done))
        #expect(scheduler.start(at: 30)?.message.openedBy == Self.reply)
    }

    @Test func whatIsOpenedAndHandledMeanwhileIsHandedOverOnceMore() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.opened(by: Self.reply)
        scheduler.answer(call, Self.done, at: 1)
        let again = try #require(scheduler.start(at: 1))
        #expect(again.message.openedBy == Self.reply)
        scheduler.answer(again, Self.done, at: 2)
        #expect(scheduler.rows[1] == .done)
        #expect(scheduler.start(at: 2) == nil)
    }

    @Test func whatIsOpenedWhileItIsQueuedWaitsAndIsReadBack() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.receive(2)
        scheduler.turn(at: 0)
        scheduler.opened(2, by: Self.reply)
        scheduler.turn(at: 0)
        #expect(
            scheduler.changes() == [self.opened(2), .change(2, .back()), self.opened(2, isRecorded: true)])
        scheduler.answer(call, Self.done, at: 1)
        #expect(scheduler.start(at: 1)?.message.openedBy == Self.reply)
        #expect(scheduler.memoryWeight == 1)
    }

    @Test func whatWaitsForItsNextAttemptDoesNotWaitWhenItIsOpened() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        scheduler.answer(try #require(scheduler.start(at: 0)), .result(.failed), at: 1)
        scheduler.opened(by: Self.reply)
        let call = try #require(scheduler.start(at: 1))
        #expect(call.attempt == 1)
        #expect(call.message.openedBy == Self.reply)
    }

    @Test func anAnswerToAnAttemptBeforeDoesNotEndWhatIsOpened() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.end(call, at: 1)
        scheduler.turn(at: 30)
        scheduler.opened(by: Self.reply)
        scheduler.turn(at: 30.5)
        _ = scheduler.changes()
        #expect(!scheduler.reply(call, Self.done, at: 30.5))
        #expect(scheduler.changes() == [])
        #expect(scheduler.start(at: 30.5)?.message.openedBy == Self.reply)
    }

    @Test func anAgentThatDoesNotRunFindsItWhenItDoes() throws {
        let scheduler = TestScheduler()
        scheduler.rows.insert(.push(1), .presented)
        scheduler.opened(by: Self.reply)
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [self.opened()])
        #expect(scheduler.asked == [])
        scheduler.attach()
        #expect(scheduler.start(at: 0)?.message.openedBy == Self.reply)
    }

    @Test func whatIsOpenedAndGivenBackWaits() throws {
        let scheduler = try self.presented()
        scheduler.opened(by: Self.reply)
        scheduler.turn(at: 2)
        #expect(scheduler.rows[1] == .inHand)
        _ = scheduler.changes()
        scheduler.drain()
        scheduler.turn(at: 2)
        #expect(scheduler.changes() == [.change(1, .back())])
    }

    // MARK: - Not opened

    @Test func whatIsDismissedIsDoneWithoutDataOnceItRests() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        scheduler.reacted(.dismissed, to: 1)
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [])
        scheduler.answer(call, .presented, at: 1)
        #expect(scheduler.changes() == [.change(1, .presented), .change(1, .unopened)])
        #expect(scheduler.events() == [.received, .started(attempt: 1), .dismissed, .presented])
        #expect(scheduler.rows[1] == .done)
    }

    @Test func whatIsDismissedWhileItRestsIsDoneAtOnce() throws {
        let scheduler = try self.presented()
        scheduler.reacted(.dismissed, to: 1)
        scheduler.turn(at: 1)
        #expect(scheduler.changes() == [.change(1, .unopened)])
        #expect(scheduler.rows[1] == .done)
    }

    @Test(arguments: [true, false])
    func whatNothingShowsAnyMoreIsReadBackOnceItRests(isCalled: Bool) throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1)
        let call = try #require(scheduler.start(at: 0))
        if isCalled { scheduler.reacted(.withdrawn, to: 1) }
        scheduler.answer(call, .presented, at: 1)
        if !isCalled { scheduler.reacted(.withdrawn, to: 1) }
        #expect(scheduler.start(at: 1)?.sequence == 1)
        #expect(scheduler.changes() == [.change(1, .presented), .change(1, .unpresented)])
        #expect(!scheduler.events().contains(.dismissed))
    }

    @Test func whatCannotBeShownAgainIsReadBack() throws {
        let scheduler = try self.presented()
        scheduler.record(.change(1, .unpresented))
        #expect(scheduler.start(at: 1)?.sequence == 1)
    }
}
