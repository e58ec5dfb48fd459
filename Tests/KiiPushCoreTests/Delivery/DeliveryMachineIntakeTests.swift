import KiiPushCore
import Testing

@Suite struct DeliveryMachineIntakeTests {
    @Test func whatTheStoreHoldsComesFirst() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        #expect(machine.machine.reserve(3, installation: 1, now: .seconds(0)) == 0)
        let suspects = try #require(machine.output().loads.first)
        #expect(suspects.kind == .suspects(after: 0))
        machine.load(suspects, [TestMessage(sequence: 4, wasInHand: true)], isComplete: false)
        let more = try #require(machine.output().loads.first)
        #expect(more.kind == .suspects(after: 4))
        machine.load(more, [], isComplete: true)
        let retries = try #require(machine.output().loads.first)
        #expect(retries.kind == .retries)
        #expect(machine.machine.reserve(3, installation: 1, now: .seconds(0)) == 0)
        machine.load(retries, [], isComplete: true)
        let waiting = try #require(machine.output().loads.first)
        #expect(waiting.kind == .waiting)
        // Received while that page was being read: it may not hold it, so another one is wanted.
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 0)
        machine.load(waiting, [5], isComplete: true)
        let rest = try #require(machine.output().loads.first)
        machine.load(rest, [6], isComplete: true)
        #expect(machine.output().loads == [])
        #expect(machine.machine.reserve(3, installation: 1, now: .seconds(0)) == 3)
    }

    @Test func noMoreThanAThousandMessagesAreInMemory() throws {
        let machine = TestMachine.open()
        #expect(machine.machine.reserve(1200, installation: 1, now: .seconds(0)) == 1000)
        machine.machine.received((1...1000).map { TestMessage(sequence: $0) }, releasing: 1000, now: .seconds(0))
        #expect(machine.memoryWeight == 1000)
        // What comes now goes behind the 200 that wait in the store.
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 0)
        #expect(machine.output().loads == [])
        var handled = 0
        var loads: [DeliveryLoad] = []
        while loads.isEmpty {
            let claim = try #require(machine.claim(at: 0))
            machine.end(
                claim.call, .init(repeating: .result(.newData), count: claim.messages.count),
                position: claim.messages.count - 1, at: 0)
            handled += claim.messages.count
            loads = machine.output().loads
        }
        #expect(handled >= 250)
        #expect(loads.map(\.kind) == [.waiting])
        #expect(machine.memoryWeight <= 1000)
        machine.load(try #require(loads.first), (1001...1201).map { TestMessage(sequence: $0) }, isComplete: true)
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 1)
    }

    @Test func noMoreThanSoManyBytesAreInMemory() throws {
        // 10,000 bytes for each of 100.
        let machine = TestMachine.open {
            $0.messagesInMemory = 100
            $0.bytesInMemory = 1_000_000
        }
        // They weigh 1, 2, 10, and no more than 25 each.
        let sizes = [9_999, 10_000, 95_000, 900_000, 500_000, 500_000, 500_000, 1]
        #expect(machine.machine.reserve(8, installation: 1, now: .seconds(0), bytes: { sizes[$0] }) == 6)
        #expect(machine.memoryWeight == 88)
        let messages = sizes[..<6].enumerated().map { index, bytes in
            TestMessage(sequence: Int64(index + 1), source: "\(index)", bytes: bytes)
        }
        machine.machine.received(messages, releasing: 88, now: .seconds(0))
        #expect(machine.memoryWeight == 88)
        #expect(machine.output().loads == [])
        for _ in 1...3 {
            let claim = try #require(machine.claim(at: 0))
            machine.end(claim.call, [.result(.newData)], position: 0, at: 0)
        }
        // There is room for a quarter; what is read next is promised it.
        let load = try #require(machine.output().loads.first)
        #expect(load.limit == 25)
        #expect(sizes[6...].map(load.scale.weight(of:)) == [25, 1])
        #expect(machine.memoryWeight == 100)
        machine.load(load, [TestMessage(sequence: 7, bytes: 500_000)], isComplete: false)
        #expect(machine.memoryWeight == 100)
        #expect(machine.output().loads == [])
        let claim = try #require(machine.claim(at: 0))
        machine.end(claim.call, [.result(.newData)], position: 0, at: 0)
        #expect(machine.output().loads.map(\.limit) == [25])
    }

    @Test func manyFailingMessagesDoNotKeepOthersOutOfMemory() throws {
        let machine = TestMachine.open { $0.messagesInMemory = 10 }
        machine.receive((0..<10).map { TestMessage(sequence: $0, source: "\($0)") })
        for _ in 0..<10 {
            let claim = try #require(machine.claim(at: 0))
            machine.answer(claim.call, .result(.failed), at: 0)
        }
        #expect(machine.memoryWeight == 2)
        // The others are in the store, which is asked for them when they are due.
        _ = machine.output()
        machine.time(1)
        let output = machine.output()
        #expect(output.loads.map(\.kind) == [.retries])
        #expect(output.commitments.flatMap(\.keys).count == 2)
        let load = try #require(output.loads.first)
        machine.load(
            load, [TestMessage(sequence: 0, source: "0", attempts: 1)], isComplete: true, nextRetry: .seconds(7), at: 1)
        #expect(machine.claim(at: 1)?.attempts == [2])
        machine.time(7.9)
        #expect(machine.output().loads == [])
        machine.time(8)
        #expect(machine.output().loads.map(\.kind) == [.retries])
    }

    @Test func retriesThatBecomeDueWhileAPageIsReadAreLookedForAgain() throws {
        let machine = TestMachine.open { $0.messagesInMemory = 8 }
        machine.machine.backlogAppeared(1)
        let waiting = try #require(machine.output().loads.first)
        machine.load(waiting, [], isComplete: true, nextRetry: .seconds(1), at: 0)
        machine.time(1)
        let retries = try #require(machine.output().loads.first)
        machine.receive((0..<6).map { TestMessage(sequence: $0, source: "\($0)") })
        for _ in 0..<6 {
            let claim = try #require(machine.claim(at: 1))
            machine.answer(claim.call, .result(.failed), at: 1)
        }
        // Some went to the store after the page was asked for, and are due before it comes.
        machine.time(2)
        _ = machine.output()
        machine.load(retries, [], isComplete: true, at: 2)
        #expect(machine.output().loads.map(\.kind) == [.retries])
    }

    @Test func aLateSuccessOfAMessageInTheStoreIsNotUndoneByAPage() throws {
        let machine = TestMachine.open { $0.messagesInMemory = 1 }
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.leaveUnanswered(claim.call, at: 0)
        machine.time(30)
        #expect(machine.memoryWeight == 0)
        machine.time(31)
        let load = try #require(machine.output().loads.first)
        #expect(machine.answerLater(1, .result(.newData), at: 31))
        machine.load(load, [TestMessage(sequence: 1, attempts: 1)], isComplete: true, at: 31)
        #expect(machine.claim(at: 31) == nil)
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
    }

    @Test func aPageThatFailsIsAskedForAgain() throws {
        let machine = TestMachine()
        machine.machine.attached(1)
        machine.load(try #require(machine.output().loads.first), [], isComplete: false, isFailure: true)
        #expect(machine.output().loads == [])
        #expect(machine.nextDeadline == .seconds(1))
        machine.time(1)
        #expect(machine.output().loads.map(\.kind) == [.suspects(after: 0)])
    }

    @Test func oneInstallationsBacklogLeavesOthersAlone() {
        let machine = TestMachine.open(installations: [1, 2]) { $0.messagesInMemory = 100 }
        machine.machine.backlogAppeared(1)
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 0)
        #expect(machine.machine.reserve(1, installation: 2, now: .seconds(0)) == 1)
        #expect(machine.machine.reserve(1, installation: 3, now: .seconds(0)) == 0)
    }

    @Test func drainingGivesBackWhatHasNotStarted() throws {
        let machine = TestMachine.open()
        machine.receive([1, 2, 3])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.drain()
        // The last one first: nothing that waits starts before what is in hand, wherever the store is cut off.
        #expect(machine.changes() == [.change(3, .waiting), .change(2, .waiting)])
        #expect(!machine.isIdle)
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 0)
        machine.receive([4])
        #expect(machine.changes() == [.change(4, .waiting)])
        machine.answer(claim.call, .result(.failed), at: 1)
        #expect(machine.changes() == [.change(1, .retry(after: .seconds(1), failure: .failed), attempts: 1)])
        #expect(machine.isIdle)
        #expect(machine.memoryWeight == 0)
        #expect(machine.claim(at: 9) == nil)
    }

    @Test func drainingTakesBackARunAloneThatHasNotStarted() {
        let machine = TestMachine.open()
        machine.receive([TestMessage(sequence: 1, wasInHand: true), TestMessage(sequence: 2, wasInHand: true)])
        _ = machine.output()
        machine.machine.drain()
        // 2 stays in hand in the store, so it needs no change.
        #expect(machine.changes() == [.change(1, .inHand)])
        machine.machine.committed([.init(sequence: 1)])
        #expect(machine.claim(at: 0) == nil)
    }

    @Test func detachingGivesBackOneInstallationsMessages() throws {
        let machine = TestMachine.open(installations: [1, 2])
        machine.receive([1, 2, TestMessage(sequence: 3, installation: 2)])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.detached(1)
        #expect(machine.changes() == [.change(2, .waiting)])
        #expect(machine.claimed(0) == [3])
        machine.answer(claim.call, .result(.newData), at: 1)
        #expect(machine.changes() == [.change(1, .done(.newData), attempts: 1)])
        machine.machine.attached(1)
        #expect(machine.output().loads.map(\.kind) == [.suspects(after: 0)])
    }

    @Test func aRetryThatWentToTheStoreIsNotTakenFromAPageThatWasReadBefore() throws {
        let machine = TestMachine.open { $0.messagesInMemory = 8 }
        machine.machine.backlogAppeared(1)
        let waiting = try #require(machine.output().loads.first)
        machine.load(waiting, [], isComplete: true, nextRetry: .seconds(1), at: 0)
        machine.time(1)
        let retries = try #require(machine.output().loads.first)
        #expect(retries.kind == .retries)
        machine.receive((0..<6).map { TestMessage(sequence: $0, source: "\($0)") })
        for _ in 0..<6 {
            let claim = try #require(machine.claim(at: 1))
            machine.answer(claim.call, .result(.failed), at: 1)
        }
        machine.load(retries, (0..<6).map { TestMessage(sequence: $0, source: "\($0)") }, isComplete: true, at: 1)
        #expect(machine.claim(at: 1) == nil)
    }

    @Test func whatWasOnItsWayWhileAnAgentMovedDoesNotOvertake() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(0)) == 1)
        machine.machine.detached(1)
        machine.machine.attached(1)
        let output = machine.output()
        #expect(output.changes == [.change(1, .waiting)])
        machine.machine.received([2], releasing: 1, now: .seconds(0))
        #expect(machine.claim(at: 0) == nil)
        #expect(machine.changes() == [.change(2, .waiting)])
        // What reads the rows in hand was under way before that.
        machine.load(
            try #require(output.loads.first), [TestMessage(sequence: 2, wasInHand: true)], isComplete: true)
        let retries = machine.output()
        #expect(retries.commitments == [])
        machine.load(try #require(retries.loads.first), [], isComplete: true)
        machine.load(try #require(machine.output().loads.first), [1, 2], isComplete: true)
        #expect(machine.claimed(0) == [1])
        #expect(machine.memoryWeight == 2)
    }

    @Test func aPageForAnEarlierAttachmentIsGivenBack() throws {
        let machine = TestMachine.open()
        machine.receive([1])
        let claim = try #require(machine.claim(at: 0))
        machine.machine.backlogAppeared(1)
        let old = try #require(machine.output().loads.first)
        machine.machine.detached(1)
        machine.machine.attached(1)
        let new = try #require(machine.output().loads.first)
        machine.answer(claim.call, .result(.newData), at: 1)
        machine.load(old, [5], isComplete: true, at: 1)
        #expect(
            machine.output().changes == [.change(1, .done(.newData), attempts: 1), .change(5, .waiting)])
        // Asked for before either was known in the store.
        let rows = [1, 5].map { TestMessage(sequence: $0, wasInHand: true) }
        machine.load(new, rows, isComplete: true, at: 1)
        let output = machine.output()
        #expect(output.commitments == [])
        #expect(output.loads.map(\.kind) == [.retries])
        #expect(machine.claim(at: 1) == nil)
    }
}
