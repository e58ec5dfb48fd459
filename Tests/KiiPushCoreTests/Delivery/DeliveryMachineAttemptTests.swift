import KiiPushCore
import Testing

/// When an attempt started and ended, as the machine has it recorded with the verdict.
@Suite struct DeliveryMachineAttemptTests {
    private typealias Attempt = DeliveryChange.Attempt

    private func attempts(_ machine: TestMachine) -> [Attempt?] {
        let output = machine.machine.takeOutput()
        return (output.changes + output.commitments.flatMap(\.changes)).map(\.attempt)
    }

    @Test(arguments: [
        HandlerVerdict.result(.newData), .result(.noData), .result(.failed), .threw("E"), .unanswered, .rejected("no"),
        .presented,
    ])
    func aVerdictSaysWhenItsAttemptRan(verdict: HandlerVerdict) throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 5))
        machine.answer(claim.call, verdict, at: 7)
        #expect(self.attempts(machine) == [Attempt(number: 1, startedAt: .seconds(5), endedAt: .seconds(7))])
    }

    @Test func eachMessageOfAClaimHasItsOwn() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2, 3])
        let first = try #require(machine.claim(at: 1))
        machine.answer(first.call, .result(.newData), at: 1)
        _ = machine.output()
        // A source whose handler is quick gives two messages at once.
        let claim = try #require(machine.claim(at: 2))
        try #require(claim.messages.count == 2)
        let one = DeliveryProgress(
            answers: [.init(index: 0, verdict: .result(.newData))], position: 1, startedAt: .seconds(3))
        machine.machine.reported(claim.call, one, now: .seconds(3))
        #expect(self.attempts(machine) == [Attempt(number: 1, startedAt: .seconds(2), endedAt: .seconds(3))])
        let two = DeliveryProgress(
            answers: [.init(index: 1, verdict: .result(.failed))], position: 1, startedAt: .seconds(3))
        machine.machine.returned(claim.call, two, now: .seconds(6))
        #expect(self.attempts(machine) == [Attempt(number: 1, startedAt: .seconds(3), endedAt: .seconds(6))])
    }

    @Test func aRetryIsTheNextOne() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        machine.answer(try #require(machine.claim(at: 0)).call, .result(.failed), at: 0)
        _ = machine.output()
        machine.time(1)
        _ = machine.commit()
        let claim = try #require(machine.claim(at: 2))
        #expect(claim.attempts == [2])
        machine.leaveUnanswered(claim.call, at: 2)
        #expect(machine.answerLater(1, call: claim.call, .result(.newData), at: 4))
        #expect(self.attempts(machine) == [Attempt(number: 2, startedAt: .seconds(2), endedAt: .seconds(4))])
    }

    @Test func aDeadlineEndsAnAttemptAndALateSuccessHasNoStart() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 1))
        machine.leaveUnanswered(claim.call, at: 1)
        machine.time(31)
        #expect(self.attempts(machine) == [Attempt(number: 1, startedAt: .seconds(1), endedAt: .seconds(31))])
        #expect(machine.answerLater(1, .result(.newData), at: 31.5))
        #expect(self.attempts(machine) == [Attempt(number: 1, endedAt: .seconds(31.5))])
    }

    @Test func anAttemptThatIsToRunAloneIsNamedBeforeIt() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        let load = try #require(machine.output().loads.first)
        machine.load(load, [TestMessage(sequence: 1, attempts: 2, crashes: 1, wasInHand: true)], isComplete: true)
        #expect(self.attempts(machine) == [Attempt(number: 3)])
    }

    @Test func whatNoAttemptLedToHasNone() {
        let machine = TestMachine.open()
        machine.receive([1])
        machine.machine.refused(.push(2), .command)
        machine.machine.drain()
        #expect(self.attempts(machine) == [nil, nil])
    }
}

@Suite struct DeliveryMachineDeadLetterTests {
    /// A message whose every attempt has timed out, and somebody still holds a completion of it.
    private func machineWithDeadLetter() throws -> TestMachine {
        let machine = TestMachine.open { $0.retryDelays = [] }
        machine.receive([1])
        machine.leaveUnanswered(try #require(machine.claim(at: 0)).call, at: 0)
        machine.time(30)
        #expect(machine.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 1)])
        return machine
    }

    @Test func aLateSuccessStillEndsADeadLetter() throws {
        let machine = try self.machineWithDeadLetter()
        #expect(machine.answerLater(1, .result(.newData), at: 31))
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
    }

    @Test func aDeadLetterThatIsTriedAgainIsReadFromTheStore() throws {
        let machine = try self.machineWithDeadLetter()
        machine.machine.requeued(1, installation: 1)
        let load = try #require(machine.output().loads.first)
        #expect(load.kind == .waiting)
        machine.load(load, [1], isComplete: true, at: 31)
        #expect(machine.claimed(31) == [1])
    }

    @Test func aLateSuccessDoesNotEndOneThatIsTriedAgain() throws {
        let machine = try self.machineWithDeadLetter()
        machine.machine.requeued(1, installation: 1)
        let load = try #require(machine.output().loads.first)
        machine.load(load, [1], isComplete: true, at: 31)
        #expect(!machine.answerLater(1, .result(.newData), at: 32))
        #expect(machine.changes() == [])
        let claim = try #require(machine.claim(at: 33))
        machine.answer(claim.call, .result(.noData), at: 34)
        #expect(machine.changes() == [.change(1, .done(.noData), attempts: 1)])
    }

    /// The dead letter of `machineWithDeadLetter()`, tried again: its first attempt has the number 1 once more.
    private func machineTryingAgain() throws -> (TestMachine, call: Int) {
        let machine = try self.machineWithDeadLetter()
        machine.machine.requeued(1, installation: 1)
        machine.load(try #require(machine.output().loads.first), [1], isComplete: true, at: 31)
        let claim = try #require(machine.claim(at: 33))
        #expect(claim.attempts == [1])
        return (machine, claim.call)
    }

    @Test(arguments: [
        HandlerVerdict.result(.newData), .result(.failed), .rejected("no"), .threw("E"), .unanswered,
    ])
    func anAnswerToTheAttemptBeforeDoesNotEndTheNewOne(verdict: HandlerVerdict) throws {
        let (machine, call) = try self.machineTryingAgain()
        #expect(!machine.answerLater(1, verdict, at: 34))
        #expect(machine.changes() == [])
        machine.answer(call, .result(.noData), at: 35)
        #expect(machine.changes() == [.change(1, .done(.noData), attempts: 1)])
    }

    @Test func lettingGoOfTheCompletionBeforeLeavesTheNewOneItsLateAnswer() throws {
        let (machine, call) = try self.machineTryingAgain()
        machine.leaveUnanswered(call, at: 33)
        machine.time(63)
        #expect(machine.changes() == [.change(1, .dead(.attemptsFailed(.timedOut)), attempts: 1)])
        #expect(!machine.answerLater(1, .unanswered, at: 64))
        #expect(!machine.answerLater(1, .result(.newData), at: 64))
        #expect(machine.answerLater(1, call: call, .result(.newData), at: 65))
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
    }

    @Test func nothingIsReadForAnInstallationThatNobodyReceivesAs() throws {
        let machine = try self.machineWithDeadLetter()
        machine.machine.requeued(7, installation: 2)
        #expect(machine.output().loads == [])
    }
}
