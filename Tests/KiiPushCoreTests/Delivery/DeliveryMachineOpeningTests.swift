import KiiPushCore
import Testing

@Suite struct DeliveryMachineOpeningTests {
    private let opening = DeliveryOpening(.push(1), action: .custom("reply"))

    private func opened(_ sequence: Int64 = 1) -> DeliveryChange {
        .change(sequence, .opened(DeliveryOpening(.push(sequence), action: .custom("reply"))))
    }

    /// A machine that has presented message 1, and was asked for everything since.
    private func presented(_ change: (inout DeliveryConfiguration) -> Void = { _ in }) throws -> TestMachine {
        let machine = TestMachine.open(change)
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .presented, at: 1)
        #expect(machine.changes() == [.change(1, .presented)])
        return machine
    }

    /// Answers the load of what waits with these messages.
    private func load(_ messages: [TestMessage], into machine: TestMachine, _ loads: [DeliveryLoad]) throws {
        let load = try #require(loads.first { $0.kind == .waiting })
        machine.load(load, messages, isComplete: true, at: 2)
    }

    @Test func whatIsOpenedIsReadBackFromTheStoreBeforeAnythingNew() throws {
        let machine = try self.presented()
        machine.machine.opened(self.opening)
        let output = machine.output()
        #expect(output.changes == [self.opened()])
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 0)
        try self.load([TestMessage(sequence: 1, isUserOpened: true)], into: machine, output.loads)
        #expect(machine.claim(at: 3)?.messages.first?.isUserOpened == true)
        #expect(machine.counters.opened == 1)
    }

    @Test func whatIsOpenedGoesBeforeWhatCameAfterIt() throws {
        let machine = try self.presented()
        machine.receive([2, 3, 4])
        machine.machine.opened(self.opening)
        try self.load([TestMessage(sequence: 1, isUserOpened: true)], into: machine, machine.output().loads)
        #expect(machine.claimed(3)?.first == 1)
    }

    @Test func whatIsOpenedBeforeItsVerdictIsOpenedAfterIt() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.opened(self.opening)
        // Noted at once, so that a crash does not lose it.
        #expect(machine.changes() == [self.opened()])
        machine.answer(claim.call, .presented, at: 1)
        let output = machine.output()
        // The record says it once.
        var again = self.opening
        again.isRecorded = true
        #expect(output.changes == [.change(1, .presented), .change(1, .opened(again))])
        #expect(output.loads.map(\.kind) == [.waiting])
    }

    @Test func whatIsOpenedAndConcludedWhileAPageIsAskedForIsDelivered() throws {
        let machine = TestMachine.open()
        machine.receive([TestMessage(sequence: 1), TestMessage(sequence: 2, source: "b")])
        let claims = [try #require(machine.claim(at: 0)), try #require(machine.claim(at: 0))]
        for sequence in 1...2 as ClosedRange<Int64> {
            machine.machine.opened(DeliveryOpening(.push(sequence), action: .open))
        }
        _ = machine.output()
        // The first asks for a page, which the store is told after both: so it finds the second as well.
        for claim in claims { machine.answer(claim.call, .result(.newData), at: 1) }
        let output = machine.output()
        #expect(output.changes.map(\.sequence) == [1, 1, 2, 2])
        let opened = [1, 2].map { TestMessage(sequence: $0, source: "s\($0)", isUserOpened: true) }
        try self.load(opened, into: machine, output.loads)
        let delivered = [machine.claim(at: 3), machine.claim(at: 3)].map { $0?.messages.first?.sequence }
        #expect(delivered == [1, 2])
    }

    @Test func whatWaitsForItsNextAttemptDoesNotWaitWhenItIsOpened() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.failed), at: 1)
        _ = machine.output()
        machine.machine.opened(self.opening)
        let output = machine.output()
        #expect(output.changes.first == self.opened())
        #expect(output.loads.map(\.kind) == [.waiting])
        #expect(machine.machine.nextDeadline == nil)
        #expect(machine.memoryWeight == output.loads[0].limit)
    }

    @Test func anAnswerToAnAttemptBeforeDoesNotEndWhatIsOpened() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(claim.call, at: 1)
        machine.time(31)
        machine.machine.opened(self.opening)
        _ = machine.output()
        #expect(machine.answerLater(1, .result(.newData), at: 32) == false)
        #expect(machine.changes().isEmpty)
    }

    @Test func whatIsOpenedAndHasNoRowAnyMoreIsForgottenOnceAllIsRead() throws {
        let machine = try self.presented()
        machine.machine.backlogAppeared(1)
        let before = machine.output().loads
        machine.machine.opened(self.opening)
        _ = machine.output()
        // This one may have been read before the store was told.
        try self.load([], into: machine, before)
        #expect(machine.reactionCount == 1)
        try self.load([], into: machine, machine.output().loads)
        #expect(machine.reactionCount == 0)
    }

    @Test func whatIsOpenedIsForgottenWithTheAgent() throws {
        let machine = try self.presented()
        machine.machine.opened(self.opening)
        machine.machine.detached(1)
        #expect(machine.reactionCount == 0)
    }

    @Test func anAgentThatDoesNotRunFindsItWhenItDoes() {
        let machine = TestMachine(.init())
        machine.machine.opened(self.opening)
        let output = machine.output()
        #expect(output.changes == [self.opened()])
        #expect(output.loads.isEmpty)
        #expect(machine.reactionCount == 0)
    }

    @Test func whatIsDismissedIsDoneWithoutDataOnceItRests() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.dismissed(1, installation: 1)
        #expect(machine.changes().isEmpty)
        machine.answer(claim.call, .presented, at: 1)
        #expect(machine.changes() == [.change(1, .presented), .change(1, .unopened)])
        #expect(machine.counters.dismissed == 1)
        #expect(machine.counters.noData == 1)
    }

    @Test func whatNothingShowsAnyMoreIsReadBackOnceItRests() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.withdrawn(1, installation: 1)
        #expect(machine.changes().isEmpty)
        machine.answer(claim.call, .presented, at: 1)
        let output = machine.output()
        #expect(output.changes == [.change(1, .presented), .change(1, .unpresented)])
        #expect(output.loads.map(\.kind) == [.waiting])
        #expect(machine.counters.dismissed == 0)
    }

    @Test func whatCannotBeShownAgainIsReadBack() throws {
        let machine = try self.presented()
        machine.machine.unpresented([1], installation: 1)
        let output = machine.output()
        #expect(output.changes == [.change(1, .unpresented)])
        #expect(output.loads.map(\.kind) == [.waiting])
    }

    @Test func whatIsOpenedAndGivenBackWaits() throws {
        let machine = try self.presented()
        machine.machine.opened(self.opening)
        try self.load([TestMessage(sequence: 1, isUserOpened: true)], into: machine, machine.output().loads)
        machine.machine.drain()
        #expect(machine.changes() == [.change(1, .waiting)])
    }

    @Test func whatIsOpenedAndEndsTheProcessRunsAlone() throws {
        let machine = TestMachine(.init())
        machine.machine.attached(1)
        let load = try #require(machine.output().loads.first)
        machine.load(load, [TestMessage(sequence: 1, wasInHand: true, isUserOpened: true)], isComplete: true)
        #expect(machine.claim(at: 0) == nil)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        #expect(machine.claim(at: 1)?.messages.first?.isUserOpened == true)
    }

    @Test func whatReachesNobodyIsDoneAndCounted() throws {
        let machine = TestMachine.open()
        machine.machine.isObserved = true
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .unreached, at: 1)
        let output = machine.output()
        #expect(output.changes == [.change(1, .done(.noData), attempts: 1)])
        #expect(output.events.map(\.kind).last == .unreached(attempt: 1))
        #expect(machine.counters.unreached == 1)
        #expect(machine.counters.noData == 1)
    }
}
