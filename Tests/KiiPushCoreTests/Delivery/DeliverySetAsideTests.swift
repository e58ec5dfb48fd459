import KiiPushCore
import Testing

/// A handler leaves messages to a later run.
@Suite struct DeliverySetAsideTests {
    @Test func aMessageThatIsSetAsideWaitsWithItsAttemptsAndHoldsNobodyUp() throws {
        let machine = TestMachine.open { $0.isStrictlyOrdered = true }
        machine.receive([TestMessage(sequence: 1, attempts: 2), 2])
        let first = try #require(machine.claim(at: 0))
        #expect(first.messages.map(\.sequence) == [1])
        machine.answer(first.call, .setAside, at: 0)
        #expect(machine.changes() == [.change(1, .waiting, attempts: 2)])
        #expect(machine.claimed(0) == [2])
        #expect(machine.memoryWeight == 1)
    }

    @Test func whatElseWaitsIsReadPastItWithoutMarkingIt() throws {
        let machine = TestMachine.open { $0.messagesInMemory = 4 }
        machine.receive([1])
        machine.answer(try #require(machine.claim(at: 0)).call, .setAside, at: 0)
        #expect(machine.changes() == [.change(1, .waiting)])
        machine.machine.backlogAppeared(1)
        let load = try #require(machine.output().loads.first)
        #expect(load.kind == .scan(after: 0))
        machine.load(load, [1, 2], isComplete: true)
        #expect(machine.commit() == [.change(2, .inHand)])
        #expect(machine.claimed(0) == [2])
        // It was read past once, and that is enough.
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 1)
    }

    @Test func aLoadThatWasUnderWayDoesNotBringIt() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        machine.machine.backlogAppeared(1)
        let load = try #require(machine.output().loads.first)
        #expect(load.kind == .waiting)
        machine.answer(try #require(machine.claim(at: 0)).call, .setAside, at: 0)
        #expect(machine.changes() == [.change(1, .waiting)])
        machine.load(load, [1], isComplete: true)
        #expect(machine.claimed(0) == nil)
        #expect(machine.changes() == [.change(1, .waiting)])
    }

    @Test func aPersonWhoHasItTriedAgainBringsIt() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        machine.answer(try #require(machine.claim(at: 0)).call, .setAside, at: 0)
        #expect(machine.changes() == [.change(1, .waiting)])
        machine.machine.requeued(1, installation: 1)
        let load = try #require(machine.output().loads.first)
        machine.load(load, [1], isComplete: true)
        #expect(machine.claimed(0) == [1])
    }

    @Test func theNextAttachmentBringsIt() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        machine.answer(try #require(machine.claim(at: 0)).call, .setAside, at: 0)
        machine.machine.detached(1)
        machine.machine.attached(1)
        var isBrought = false
        while let load = machine.output().loads.first {
            let isWaiting = load.kind == .waiting && !isBrought
            machine.load(load, isWaiting ? [1] : [], isComplete: true)
            isBrought = isBrought || isWaiting
        }
        #expect(machine.claimed(0) == [1])
    }

    @Test func oneThatRanAloneKeepsItsCrashes() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        let suspects = try #require(machine.output().loads.first)
        machine.load(suspects, [TestMessage(sequence: 1, attempts: 1, crashes: 1, wasInHand: true)], isComplete: true)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 2, crashes: 2)])
        machine.answer(try #require(machine.claim(at: 0)).call, .setAside, at: 0)
        #expect(machine.changes().last == .change(1, .waiting, attempts: 1, crashes: 1))
    }

    @Test func settingAsideAfterTheDeadlineDoesNotCount() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let call = try #require(machine.claim(at: 0)).call
        machine.leaveUnanswered(call, at: 0)
        machine.time(30)
        #expect(!machine.answerLater(1, .setAside, at: 30.5))
    }
}
