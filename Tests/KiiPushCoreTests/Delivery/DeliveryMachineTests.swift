import KiiPushCore
import Testing

@Suite struct DeliveryMachineTests {
    @Test(arguments: [FetchResult.newData, .noData])
    func aSuccessEndsTheMessage(result: FetchResult) throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        #expect(claim.messages.map(\.sequence) == [1])
        #expect(claim.attempts == [1])
        #expect(claim.deadline == .seconds(30))
        machine.answer(claim.call, .result(result), at: 1)
        #expect(machine.output().changes == [.change(1, .done(result), attempts: 1)])
        #expect(machine.memoryWeight == 0)
        #expect(machine.isIdle)
        #expect(machine.nextDeadline == nil)
    }

    @Test func aRejectionIsADeadLetterAtOnce() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .rejected("no such door"), at: 1)
        #expect(machine.output().changes == [.change(1, .dead(.rejected("no such door")), attempts: 1)])
        #expect(machine.nextDeadline == nil)
    }

    @Test func whatIsPresentedRestsInTheStore() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .presented, at: 1)
        #expect(machine.output().changes == [.change(1, .presented)])
        #expect(machine.memoryWeight == 0)
    }

    @Test(arguments: [
        (HandlerVerdict.result(.failed), DeliveryFailure.failed), (.threw("E"), .threw("E")),
        (.unanswered, .unanswered),
    ])
    func aFailureIsTriedFiveMoreTimesAfterGrowingPauses(verdict: HandlerVerdict, failure: DeliveryFailure) throws {
        let machine = TestMachine.open()
        machine.receive([1])
        var time = 0.0
        for (attempt, pause) in zip(1..., [1, 5, 30, 300, 1800]) {
            let claim = try #require(machine.claim(at: time))
            #expect(claim.attempts == [attempt])
            machine.answer(claim.call, verdict, at: time + 2)
            #expect(
                machine.output().changes == [
                    .change(1, .retry(after: .seconds(pause), failure: failure), attempts: attempt)
                ])
            time += 2 + Double(pause)
            #expect(machine.nextDeadline == .seconds(time))
            machine.time(time - 0.001)
            #expect(machine.commit() == [])
            machine.time(time)
            // Not before it is durably in hand: if it ends the process, the next one has to know.
            #expect(machine.claimed(time) == nil)
            #expect(machine.commit() == [.change(1, .inHand, attempts: attempt)])
        }
        let last = try #require(machine.claim(at: time))
        machine.answer(last.call, verdict, at: time)
        #expect(machine.output().changes == [.change(1, .dead(.attemptsFailed(failure)), attempts: 6)])
        #expect(machine.memoryWeight == 0)
    }

    @Test func storedAttemptsCount() throws {
        let machine = TestMachine.open()
        machine.receive([TestMessage(sequence: 1, attempts: 5)])
        let claim = try #require(machine.claim(at: 0))
        #expect(claim.attempts == [6])
        machine.answer(claim.call, .result(.failed), at: 1)
        #expect(machine.changes().map(\.verdict) == [.dead(.attemptsFailed(.failed))])
    }

    @Test func messagesOfOneSourceStartInOrderOneAtATime() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2, 3])
        for sequence in [Int64(1), 2, 3] {
            let claim = try #require(machine.claim(at: 0))
            #expect(claim.messages.map(\.sequence) == [sequence])
            #expect(machine.claim(at: 0) == nil)
            machine.leaveUnanswered(claim.call, at: 0)
            #expect(machine.claim(at: 0) == nil)
            #expect(machine.answerLater(sequence, .result(.newData), at: 1))
        }
        #expect(machine.claim(at: 2) == nil)
    }

    @Test func slowSourcesButOneDelayNoOther() throws {
        let machine = TestMachine.open()
        for (index, source) in ["a", "b", "c"].enumerated() {
            machine.receive((0..<5).map { TestMessage(sequence: Int64(index * 10 + $0), source: source) })
        }
        for _ in 0..<3 { #expect(machine.claim(at: 0) != nil) }
        #expect(machine.claim(at: 0) == nil)
        for sequence in Int64(100)..<200 {
            machine.receive([TestMessage(sequence: sequence, source: "quick")])
            let claim = try #require(machine.claim(at: 1))
            #expect(claim.messages.map(\.sequence) == [sequence])
            machine.answer(claim.call, .result(.newData), at: 1)
        }
    }

    @Test func noMoreHandlersRunThanAreAllowed() throws {
        let machine = TestMachine.open { $0.concurrentHandlers = 2 }
        machine.receive((0..<5).map { TestMessage(sequence: $0, source: "\($0)") })
        let first = try #require(machine.claim(at: 0))
        #expect(machine.claimed(0) == [1])
        #expect(machine.claimed(0) == nil)
        machine.answer(first.call, .result(.newData), at: 1)
        #expect(machine.claimed(1) == [2])
        #expect(machine.claimed(1) == nil)
    }

    @Test func sourcesTakeTurns() throws {
        let machine = TestMachine.open { $0.concurrentHandlers = 1 }
        machine.receive([1, 2, TestMessage(sequence: 3, source: "b"), TestMessage(sequence: 4, source: "b")])
        var order: [Int64] = []
        while let claim = machine.claim(at: 0) {
            let sequence = try #require(claim.messages.first?.sequence)
            order.append(sequence)
            machine.leaveUnanswered(claim.call, at: 0)
            #expect(machine.answerLater(sequence, .result(.newData), at: 0))
        }
        #expect(order == [1, 3, 2, 4])
    }

    @Test func equalSourcesOfTwoInstallationsAreTwo() {
        let machine = TestMachine.open(installations: [1, 2])
        machine.receive([1, TestMessage(sequence: 2, installation: 2)])
        #expect(machine.claimed(0) == [1])
        #expect(machine.claimed(0) == [2])
    }

    @Test func aPausedMessageDoesNotHoldBackItsSuccessors() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2, 3])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.failed), at: 0)
        let next = try #require(machine.claim(at: 0))
        #expect(next.messages.first?.sequence == 2)
        machine.time(1)
        _ = machine.commit()
        machine.leaveUnanswered(next.call, at: 1)
        #expect(machine.answerLater(2, .result(.newData), at: 1))
        // Due again, it goes before those that came after it.
        #expect(machine.claimed(1) == [1])
    }

    @Test func inStrictOrderAPausedMessageHoldsBackItsSuccessors() throws {
        let machine = TestMachine.open { $0.isStrictlyOrdered = true }
        machine.receive([1, 2, TestMessage(sequence: 3, source: "b")])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.failed), at: 0)
        #expect(machine.claimed(0) == [3])
        #expect(machine.claimed(0) == nil)
        machine.receive([4])
        #expect(machine.claimed(0) == nil)
        machine.time(1)
        _ = machine.commit()
        let again = try #require(machine.claim(at: 1))
        #expect(again.messages.map(\.sequence) == [1])
        machine.answer(again.call, .rejected("enough"), at: 2)
        #expect(machine.claimed(2)?.first == 2)
    }

    @Test func aRedeliveryJoinsTheMessageInHand() throws {
        let machine = TestMachine.open()
        machine.machine.isObserved = true
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        _ = machine.output()
        machine.machine.repeated([(sequence: 1, installation: 1), (sequence: 7, installation: 1)], releasing: 0)
        #expect(machine.output().events.map(\.kind) == [.joined])
        #expect(machine.claim(at: 0) == nil)
        machine.answer(claim.call, .result(.newData), at: 1)
        #expect(machine.claim(at: 1) == nil)
        #expect(machine.counters.received == 1)
        #expect(machine.counters.joined == 1)
    }

    @Test func aMessageThatTheUserOpensIsDeliveredBesideItself() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.receive([TestMessage(sequence: 1, isUserOpened: true)])
        #expect(machine.claim(at: 0) == nil)
        machine.answer(claim.call, .result(.newData), at: 1)
        let second = try #require(machine.claim(at: 1))
        #expect(second.messages.first?.isUserOpened == true)
    }
}
