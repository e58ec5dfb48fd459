import KiiPushCore
import Testing

@Suite struct DeliveryMachineRecoveryTests {
    private static let done = HandlerVerdict.result(.newData)

    /// A machine that has found these messages in hand after a restart.
    private func recovered(
        _ suspects: [TestMessage], _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) throws -> TestMachine {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        let machine = TestMachine(configuration)
        machine.machine.attached(1)
        let load = try #require(machine.output().loads.first)
        #expect(load == DeliveryLoad(installation: 1, kind: .suspects(after: 0), limit: 500))
        machine.load(
            load,
            suspects.map {
                TestMessage(
                    sequence: $0.sequence, source: $0.source, attempts: $0.attempts, crashes: $0.crashes,
                    wasInHand: true)
            }, isComplete: true)
        return machine
    }

    @Test func suspectsRunOneAtATimeWithTheAttemptDurableFirst() throws {
        let machine = try self.recovered([1, TestMessage(sequence: 2, source: "b")])
        machine.receive([TestMessage(sequence: 9, source: "c")])
        // Nothing before the attempt is durable, and nothing beside it.
        #expect(machine.claim(at: 0) == nil)
        #expect(machine.commit() == [.change(1, .inHand, attempts: 1, crashes: 1)])
        let first = try #require(machine.claim(at: 0))
        #expect(first.messages.map(\.sequence) == [1])
        #expect(first.attempts == [1])
        #expect(machine.claim(at: 0) == nil)
        machine.answer(first.call, Self.done, at: 1)
        let output = machine.output()
        #expect(output.changes == [.change(1, .done(.newData), attempts: 1)])
        #expect(output.commitments.map(\.changes) == [[.change(2, .inHand, attempts: 1, crashes: 1)]])
        #expect(machine.claim(at: 1) == nil)
        machine.machine.committed([.init(sequence: 2)])
        let second = try #require(machine.claim(at: 1))
        machine.answer(second.call, Self.done, at: 2)
        #expect(machine.claimed(2) == [9])
    }

    @Test func anAttemptThatReturnsIsNoCrash() throws {
        let machine = try self.recovered([TestMessage(sequence: 1, attempts: 2, crashes: 2)])
        #expect(machine.commit() == [.change(1, .inHand, attempts: 3, crashes: 3)])
        let claim = try #require(machine.claim(at: 0))
        machine.answer(claim.call, .result(.failed), at: 0)
        #expect(
            machine.changes() == [
                .change(1, .retry(after: .seconds(30), failure: .failed), attempts: 3, crashes: 2)
            ])
        machine.time(30)
        // It is no suspect any more.
        #expect(machine.commit() == [.change(1, .inHand, attempts: 3, crashes: 2)])
    }

    @Test(arguments: [(6, 6, nil as Int?), (6, 0, nil), (3, 3, 3)])
    func asManyCrashesAsAttemptsMakeADeadLetter(attempts: Int, crashes: Int, limit: Int?) throws {
        let machine = try self.recovered([TestMessage(sequence: 1, attempts: attempts, crashes: crashes), 2]) {
            $0.maximumCrashes = limit
        }
        let output = machine.output()
        #expect(output.changes == [.change(1, .dead(.crashed), attempts: attempts, crashes: crashes)])
        // Its neighbour is not harmed.
        #expect(output.commitments.map(\.keys) == [[.init(sequence: 2)]])
    }

    @Test func aPoisonMessageEndsAndItsNeighboursDoNot() throws {
        // What the store holds: sequence to attempts and crashes. 2 ends the process whenever it runs.
        var store: [Int64: (attempts: Int, crashes: Int)] = [1: (0, 0), 2: (0, 0), 3: (0, 0)]
        var done: [Int64] = []
        var dead: [Int64] = []
        var starts = 0
        while !store.isEmpty {
            starts += 1
            let machine = try self.recovered(
                store.sorted { $0.key < $1.key }.map {
                    TestMessage(sequence: $0.key, attempts: $0.value.attempts, crashes: $0.value.crashes)
                })
            process: while true {
                let output = machine.output()
                for change in output.changes + output.commitments.flatMap(\.changes) {
                    switch change.verdict {
                    case .done: done.append(change.sequence)
                    case .dead: dead.append(change.sequence)
                    default:
                        store[change.sequence] = (change.attempts, change.crashes)
                        continue
                    }
                    store[change.sequence] = nil
                }
                for commitment in output.commitments { machine.machine.committed(commitment.keys) }
                guard let claim = machine.claim(at: 0) else { break }
                for sequence in claim.messages.map(\.sequence) {
                    if sequence == 2 { break process }
                    machine.answer(claim.call, Self.done, at: 0)
                }
            }
        }
        #expect(done == [1, 3])
        #expect(dead == [2])
        #expect(starts == 7)
    }

    @Test func aSuspectThatHangsLetsTheOthersGoAfterItsDeadline() throws {
        let machine = try self.recovered([1])
        machine.receive([TestMessage(sequence: 9, source: "b")])
        _ = machine.commit()
        #expect(machine.claimed(0) == [1])
        #expect(machine.claimed(29) == nil)
        machine.time(30)
        #expect(machine.claimed(30) == [9])
        #expect(machine.claimed(30) == nil)
    }
}
