import KiiPushCore
import Testing

/// Handlers that cannot be started, since the machine is short of what that takes.
@Suite struct DeliveryMachineShortageTests {
    private static let done = HandlerVerdict.result(.newData)
    private static let unstarted = HandlerVerdict.unstarted("no descriptors")

    /// A machine with a message of each of so many sources.
    private func machine(_ count: Int64) -> TestMachine {
        let machine = TestMachine.open { $0.concurrentHandlers = 10 }
        machine.receive((1...count).map { TestMessage(sequence: $0, source: "s-\($0)") })
        return machine
    }

    @Test func costNoAttemptAndAreTriedAgainAfterASecond() throws {
        let machine = self.machine(1)
        let first = try #require(machine.claim(at: 0))
        machine.answer(first.call, Self.unstarted, at: 0)
        let output = machine.output()
        #expect(output.changes == [])
        #expect(output.stalls == [.noHandler("no descriptors")])
        #expect(machine.claimableCount == 0)
        #expect(machine.claim(at: 0.9) == nil)
        #expect(machine.nextDeadline == .seconds(1))
        machine.time(1)
        #expect(machine.claimableCount == 1)
        let second = try #require(machine.claim(at: 1))
        #expect(second.attempts == [1])
        machine.answer(second.call, Self.unstarted, at: 1)
        // Told once.
        #expect(machine.output().stalls == [])
        machine.time(2)
        let third = try #require(machine.claim(at: 2))
        #expect(third.attempts == [1])
        machine.answer(third.call, Self.done, at: 2)
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
        machine.time(3)
        #expect(machine.output().stalls == [nil])
        #expect(machine.nextDeadline == nil)
        #expect(machine.counters.failedAttempts == 0)
    }

    @Test func leaveTheOthersTheirPlaces() throws {
        let machine = self.machine(4)
        let claims = try (1...3).map { _ in try #require(machine.claim(at: 0)) }
        machine.answer(claims[2].call, Self.unstarted, at: 0)
        // Two run, and as many go on running.
        #expect(machine.claim(at: 0) == nil)
        machine.answer(claims[0].call, Self.done, at: 0.5)
        #expect(machine.claimableCount == 1)
        #expect(try #require(machine.claimed(0.5)) == [4])
        #expect(machine.claim(at: 0.5) == nil)
        machine.time(1)
        #expect(try #require(machine.claimed(1)) == [3])
    }

    @Test func keepTheirPlaceInTheirSource() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2, 3])
        let claim = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(claim.call, at: 0)
        _ = machine.answerLater(1, Self.unstarted, at: 0)
        machine.time(1)
        #expect(try #require(machine.claimed(1)?.first) == 1)
    }

    @Test func ofAMessageThatRunsAloneTakeTheAttemptBack() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        let load = try #require(machine.output().loads.first)
        machine.load(load, [TestMessage(sequence: 1, attempts: 2, crashes: 2, wasInHand: true)], isComplete: true)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 3, crashes: 3)])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, Self.unstarted, at: 0)
        let output = machine.output()
        #expect(output.changes == [.change(1, .inHand, attempts: 2, crashes: 2)])
        #expect(output.commitments == [])
        #expect(machine.claim(at: 0.5) == nil)
        machine.time(1)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 3, crashes: 3)])
        #expect(try #require(machine.claim(at: 1)).attempts == [3])
    }

    @Test func areGivenBackWhenDeliveryStops() throws {
        let machine = self.machine(1)
        let claim = try #require(machine.claim(at: 0))
        machine.machine.drain()
        machine.answer(claim.call, Self.unstarted, at: 0)
        #expect(machine.changes() == [.change(1, .waiting)])
        #expect(machine.isIdle)
    }
}
