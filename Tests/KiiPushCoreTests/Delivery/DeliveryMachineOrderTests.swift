import KiiPushCore
import Testing

/// Strict order: what waits for its retry holds back what came after it from the same source, also in the next process.
@Suite struct DeliveryMachineOrderTests {
    private static let done = HandlerVerdict.result(.newData)

    /// A machine in strict order that has found these rows after a restart.
    private func restarted(
        paused: [TestMessage] = [], suspects: [TestMessage] = [], waiting: [TestMessage] = []
    ) throws -> TestMachine {
        var configuration = DeliveryConfiguration()
        configuration.isStrictlyOrdered = true
        let machine = TestMachine(configuration)
        machine.machine.attached(1)
        var kinds: [DeliveryLoad.Kind] = []
        while true {
            let output = machine.output()
            machine.held += output.commitments
            guard let load = output.loads.first else { break }
            kinds.append(load.kind)
            let rows =
                switch load.kind {
                case .paused: paused
                case .suspects: suspects
                case .waiting: waiting
                case .retries, .scan: [TestMessage]()
                }
            machine.load(load, rows, isComplete: true)
        }
        #expect(kinds == [.paused(after: 0), .suspects(after: 0), .waiting])
        return machine
    }

    /// Lets everything be durable and succeed that may start, and says in which order it did.
    private func run(_ machine: TestMachine, at seconds: Double) -> [Int64] {
        var order: [Int64] = []
        while true {
            _ = machine.commit()
            guard let claim = machine.claim(at: seconds) else { return order }
            order += claim.messages.map(\.sequence)
            machine.end(
                claim.call, .init(repeating: Self.done, count: claim.messages.count),
                position: claim.messages.count - 1, at: seconds)
        }
    }

    @Test func aRetryInTheStoreHoldsBackWhatCameAfterIt() throws {
        let machine = try self.restarted(
            paused: [TestMessage(sequence: 1, attempts: 2, pause: .seconds(5))],
            waiting: [2, TestMessage(sequence: 3, source: "b"), 4])
        #expect(self.run(machine, at: 0) == [3])
        #expect(machine.nextDeadline == .seconds(5))
        machine.receive([5])
        #expect(self.run(machine, at: 1) == [])
        machine.time(5)
        #expect(self.run(machine, at: 5) == [1, 2, 4, 5])
    }

    @Test func anOverdueRetryComesFirst() throws {
        let machine = try self.restarted(
            paused: [TestMessage(sequence: 1, attempts: 1, pause: .seconds(-60))], waiting: [2])
        #expect(self.run(machine, at: 0) == [])
        machine.time(0)
        #expect(self.run(machine, at: 0) == [1, 2])
    }

    @Test func severalRetriesOfASourceAreAllWaitedFor() throws {
        let machine = try self.restarted(
            paused: [
                TestMessage(sequence: 1, attempts: 1, pause: .seconds(9)),
                TestMessage(sequence: 2, attempts: 1, pause: .seconds(3)),
            ], waiting: [3])
        machine.time(3)
        #expect(self.run(machine, at: 3) == [])
        machine.time(9)
        #expect(self.run(machine, at: 9) == [1, 2, 3])
    }

    @Test func whatWasInHandBehindARetryRunsAloneWhenItsTurnComes() throws {
        let machine = try self.restarted(
            paused: [TestMessage(sequence: 1, attempts: 1, pause: .seconds(5))],
            suspects: [
                TestMessage(sequence: 2, wasInHand: true), TestMessage(sequence: 3, source: "b", wasInHand: true),
                TestMessage(sequence: 4, wasInHand: true),
            ],
            waiting: [5, TestMessage(sequence: 6, source: "b")])
        // Those of other sources need not wait for it.
        #expect(self.run(machine, at: 0) == [3, 6])
        machine.time(5)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1)])
        let first = try #require(machine.claim(at: 5))
        #expect(first.messages.map(\.sequence) == [1])
        machine.receive([TestMessage(sequence: 7, source: "b")])
        let beside = try #require(machine.claim(at: 5))
        #expect(beside.messages.map(\.sequence) == [7])
        machine.answer(first.call, Self.done, at: 6)
        // 2 is next, and runs alone: not before 7 has ended, with its attempt durable, and nothing beside it.
        machine.receive([TestMessage(sequence: 8, source: "c")])
        #expect(machine.claim(at: 6) == nil)
        #expect(machine.output().commitments == [])
        machine.answer(beside.call, Self.done, at: 6)
        #expect(machine.commit() == [.change(2, .inHand, attempts: 1, crashes: 1)])
        let alone = try #require(machine.claim(at: 6))
        #expect(alone.messages.map(\.sequence) == [2])
        #expect(machine.claim(at: 6) == nil)
        machine.answer(alone.call, Self.done, at: 7)
        #expect(self.run(machine, at: 7) == [4, 8, 5])
    }

    @Test func aRunAloneThatFailsHoldsBackTheOnesBehindIt() throws {
        let machine = try self.restarted(
            suspects: [TestMessage(sequence: 1, wasInHand: true), TestMessage(sequence: 2, wasInHand: true)],
            waiting: [TestMessage(sequence: 3, source: "b")])
        _ = machine.commit()
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.failed), at: 0)
        #expect(self.run(machine, at: 0) == [3])
        machine.time(1)
        #expect(self.run(machine, at: 1) == [1, 2])
    }

    @Test func stoppingLeavesTheRowsAsTheNextProcessHasToFindThem() throws {
        let machine = try self.restarted(
            paused: [TestMessage(sequence: 1, attempts: 1, pause: .seconds(5))],
            suspects: [TestMessage(sequence: 2, wasInHand: true)], waiting: [3])
        machine.machine.drain()
        #expect(machine.changes() == [.change(3, .waiting)])
        #expect(machine.memoryWeight == 0)
    }

    @Test func aLateSuccessLetsTheOneBehindItRunAlone() throws {
        let machine = try self.restarted(
            suspects: [TestMessage(sequence: 1, wasInHand: true), TestMessage(sequence: 2, wasInHand: true)])
        _ = machine.commit()
        let claim = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(claim.call, at: 0)
        machine.time(30)
        #expect(self.run(machine, at: 30) == [])
        #expect(machine.answerLater(1, Self.done, at: 30.5))
        #expect(self.run(machine, at: 30.5) == [2])
    }

    @Test func withoutItNothingIsAskedForBeforeTheSuspects() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        #expect(machine.output().loads.map(\.kind) == [.suspects(after: 0)])
    }
}
