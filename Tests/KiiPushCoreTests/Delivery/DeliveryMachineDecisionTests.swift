import KiiPushCore
import Testing

/// What a person decides about a message that is in memory.
@Suite struct DeliveryMachineDecisionTests {
    @Test func aPauseInMemoryEnds() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let first = try #require(machine.claim(at: 0))
        machine.answer(first.call, .result(.failed), at: 0)
        _ = machine.output()
        #expect(machine.machine.hurry(1, now: .seconds(0.1)) == .inMemory)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1)])
        #expect(try #require(machine.claim(at: 0.1)).attempts == [2])
    }

    @Test func aMessageWhoseHandlerRunsIsLeftToIt() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2])
        let first = try #require(machine.claim(at: 3))
        #expect(machine.machine.hurry(1, now: .seconds(4)) == .running(since: .seconds(3)))
        #expect(machine.machine.drop(1, installation: 1) == .running(since: .seconds(3)))
        #expect(machine.machine.hurry(2, now: .seconds(4)) == .inMemory)
        #expect(machine.machine.drop(2, installation: 1) == .inMemory)
        machine.answer(first.call, .result(.newData), at: 5)
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(machine.claim(at: 5) == nil)
        #expect(machine.memoryWeight == 0)
    }

    @Test func whatIsNotInMemoryIsTheStores() {
        let machine = TestMachine.open()
        #expect(machine.machine.hurry(9, now: .seconds(0)) == .nothing)
        #expect(machine.machine.drop(9, installation: 1) == .nothing)
    }

    @Test func aMessageThatIsToRunAloneIsDropped() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        let load = try #require(machine.output().loads.first)
        let suspects = [1, 2, 3].map { TestMessage(sequence: $0, wasInHand: true) }
        machine.load(load, suspects, isComplete: true)
        // The first is about to be written down, and the others wait for it.
        for sequence in [1, 3] as [Int64] {
            #expect(machine.machine.drop(sequence, installation: 1) == .inMemory)
        }
        #expect(machine.commit() == [.change(2, .inHand, attempts: 1, crashes: 1)])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.newData), at: 0)
        #expect(machine.isIdle)
        #expect(machine.claim(at: 0) == nil)
    }
}
