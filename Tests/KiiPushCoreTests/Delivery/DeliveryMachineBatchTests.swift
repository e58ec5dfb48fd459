import KiiPushCore
import Testing

@Suite struct DeliveryMachineBatchTests {
    private static let done = HandlerVerdict.result(.newData)

    /// A machine whose source "a" has shown to be quick, so that it gets four messages a claim; 4 is next.
    private func quickMachine() throws -> TestMachine {
        let machine = TestMachine.open()
        machine.receive((1...20).map { TestMessage(sequence: $0) })
        for count in [1, 2] {
            let claim = try #require(machine.claim(at: 0))
            #expect(claim.messages.count == count)
            machine.end(claim.call, .init(repeating: Self.done, count: count), position: count - 1, at: 0)
        }
        _ = machine.output()
        return machine
    }

    @Test func quickSourcesGetMoreMessagesAClaim() throws {
        let machine = try self.quickMachine()
        #expect(machine.claimed(0) == [4, 5, 6, 7])
    }

    @Test func whatWasNotStartedGoesBackInOrder() throws {
        let machine = try self.quickMachine()
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, Self.done, at: 5)
        #expect(machine.output().changes == [.change(4, .done(.newData), attempts: 1)])
        // And it is quick no more.
        #expect(machine.claimed(5) == [5])
    }

    @Test func theDeadlineIsThatOfTheMessageThatRuns() throws {
        let machine = try self.quickMachine()
        let claim = try #require(machine.claim(at: 0))
        #expect(machine.machine.overdueCalls(now: .seconds(29)) == [])
        #expect(machine.machine.overdueCalls(now: .seconds(30)) == [claim.call])
        machine.machine.reported(
            claim.call, .of([Self.done, Self.done], position: 2, startedAt: .seconds(20)), now: .seconds(30))
        #expect(!machine.machine.isOverdue(claim.call, now: .seconds(49)))
        machine.time(30)
        #expect(machine.output().cancellations == [])
        machine.time(50)
        let output = machine.output()
        #expect(output.cancellations == [claim.call])
        #expect(output.changes == [.change(6, .retry(after: .seconds(1), failure: .timedOut), attempts: 1)])
        // The source is busy until the call returns; then the fourth message is next.
        #expect(machine.claim(at: 50) == nil)
        machine.end(claim.call, [], position: 2, at: 51)
        #expect(machine.claimed(51) == [7])
    }

    @Test func anAnswerDuringALongCallIsRecordedAtOnceAndThePlaceKept() throws {
        let machine = try self.quickMachine()
        let claim = try #require(machine.claim(at: 0))
        machine.machine.reported(claim.call, .of([Self.done], position: 0, startedAt: .seconds(0)), now: .seconds(2))
        #expect(machine.output().changes == [.change(4, .done(.newData), attempts: 1)])
        #expect(machine.claim(at: 2) == nil)
        #expect(!machine.answerLater(4, .rejected("no"), at: 2))
        machine.end(claim.call, [], position: 0, at: 3)
        #expect(machine.output().changes == [])
        #expect(machine.claimed(3) == [5])
    }

    @Test func messagesThatFailedBeforeAreClaimedAlone() {
        let machine = TestMachine.open()
        machine.receive([TestMessage(sequence: 1, attempts: 2), 2])
        #expect(machine.claimed(0) == [1])
    }

    @Test func whatACallLeftBehindIsNotHeldUpByIt() throws {
        let machine = try self.quickMachine()
        let claim = try #require(machine.claim(at: 0))
        machine.machine.cutShort(claim.call, .of([], position: 0, startedAt: .seconds(0)), now: .seconds(0))
        #expect(machine.claim(at: 0) == nil)
        #expect(machine.answerLater(4, Self.done, at: 1))
        #expect(machine.claim(at: 1) == nil)
        machine.machine.returned(claim.call, now: .seconds(2))
        #expect(machine.claimed(2) == [5])
    }
}
