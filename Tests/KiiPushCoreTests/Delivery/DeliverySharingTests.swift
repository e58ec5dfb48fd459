import KiiPushCore
import Testing

/// A source with a long backlog must not hold up the others by filling memory.
@Suite struct DeliverySharingTests {
    /// A machine, the rows of its store, and handlers of which those of the slow sources never answer.
    private struct Stage {
        let machine: TestMachine
        var rows: [Int64: TestMessage] = [:]
        var waiting: Set<Int64> = []
        var slow: Set<String>
        var started: [TestMessage] = []
        /// The calls of slow sources.
        var calls: [Int] = []
        /// The longest page that was asked for of rows that are only looked at.
        var looked = 0
        /// Whether rows cannot be read, and how often that was tried: in vain for a thousand times at most.
        var isUnreadable = false
        var failures = 0

        init(_ slow: Set<String>, _ change: (inout DeliveryConfiguration) -> Void = { _ in }) {
            self.machine = TestMachine.open(change)
            self.machine.time(1)
            self.slow = slow
        }

        mutating func receive(_ messages: [TestMessage], at seconds: Double = 1) {
            let granted = self.machine.machine.reserve(messages.count, installation: 1, now: .seconds(seconds))
            for message in messages { self.rows[message.sequence] = message }
            for message in messages[granted...] { self.waiting.insert(message.sequence) }
            self.machine.machine.received(Array(messages[..<granted]), releasing: granted, now: .seconds(seconds))
        }

        /// Lets everything go on that can at this time.
        mutating func run(at seconds: Double) {
            self.machine.time(seconds)
            while true {
                let output = self.machine.output()
                for change in output.changes {
                    if case .waiting = change.verdict { self.waiting.insert(change.sequence) }
                }
                for commitment in output.commitments {
                    for change in commitment.changes { self.waiting.remove(change.sequence) }
                    self.machine.machine.committed(commitment.keys)
                }
                for load in output.loads { self.answer(load, at: seconds) }
                let claim = self.machine.claim(at: seconds)
                if let claim {
                    self.started.append(claim.messages[0])
                    guard !self.slow.contains(claim.messages[0].source) else {
                        self.calls.append(claim.call)
                        continue
                    }
                    self.started += claim.messages[1...]
                    self.machine.end(
                        claim.call, .init(repeating: .result(.newData), count: claim.messages.count),
                        position: claim.messages.count - 1, at: seconds)
                }
                if claim == nil, output.isEmpty { return }
            }
        }

        mutating func answer(_ load: DeliveryLoad, at seconds: Double) {
            if self.isUnreadable, self.failures < 1000 {
                self.failures += 1
                return self.machine.load(load, [], isComplete: false, isFailure: true, at: seconds)
            }
            let all = self.waiting.sorted().filter { sequence in
                if case .scan(let after) = load.kind { sequence > after } else { load.kind == .waiting }
            }
            let page = all.prefix(load.limit)
            if load.kind.isMarking { self.waiting.subtract(page) } else { self.looked = max(self.looked, page.count) }
            self.machine.load(
                load, page.compactMap { self.rows[$0] }, isComplete: page.count == all.count, at: seconds)
        }
    }

    private func messages(_ sequences: ClosedRange<Int64>, of sources: String...) -> [TestMessage] {
        sequences.map { TestMessage(sequence: $0, source: sources[Int($0) % sources.count]) }
    }

    @Test func threeSlowSourcesWithLongBacklogsDelayNoOther() {
        var stage = Stage(["a", "b", "c"])
        stage.receive(self.messages(1...5000, of: "a", "b", "c"))
        stage.receive(self.messages(5001...5002, of: "quick"))
        stage.run(at: 1)
        #expect(!stage.started.contains { $0.source == "quick" })
        stage.run(at: 1.1)
        #expect(stage.started.filter { $0.source == "quick" }.map(\.sequence) == [5001, 5002])
        // From now on nothing has to wait for that.
        stage.receive(self.messages(5003...5003, of: "quick"), at: 1.1)
        stage.run(at: 1.1)
        #expect(stage.started.last?.sequence == 5003)
        #expect(stage.machine.memoryWeight <= 1000)
    }

    @Test func aSourceThatKeptToItsShareGoesOnInOrder() {
        var stage = Stage(["a"])
        stage.receive(self.messages(1...3000, of: "a", "b", "b"))
        stage.run(at: 1)
        stage.run(at: 1.1)
        stage.slow = []
        // Its first call ends: it took one message.
        for call in stage.calls { stage.machine.answer(call, .result(.newData), at: 2) }
        stage.run(at: 2)
        for source in ["a", "b"] {
            let order = stage.started.filter { $0.source == source }.map(\.sequence)
            #expect(order == order.sorted())
        }
        #expect(stage.started.count == 3000)
        #expect(stage.waiting == [])
        // And what comes now goes straight to memory again.
        #expect(stage.machine.machine.reserve(1, installation: 1, now: .seconds(1)) == 1)
    }

    /// Nothing else may happen for long that would have it read.
    @Test func whatIsReceivedBehindASlowBacklogIsReadAtOnce() {
        var stage = Stage(["a"])
        stage.receive(self.messages(1...3000, of: "a"))
        stage.run(at: 1)
        stage.run(at: 1.1)
        #expect(stage.machine.machine.reserve(1, installation: 1, now: .seconds(1.1)) == 0)
        stage.machine.machine.withheldIsStored()
        #expect(stage.machine.output().loads.count == 1)
    }

    @Test func aSourceThatCannotBeFilledUpIsReadAgainASecondLater() {
        var stage = Stage(["a"])
        stage.receive(self.messages(1...3000, of: "a"))
        stage.run(at: 1)
        stage.run(at: 1.1)
        stage.slow = []
        stage.isUnreadable = true
        for call in stage.calls { stage.machine.answer(call, .result(.newData), at: 2) }
        stage.run(at: 2)
        #expect(stage.failures == 1)
        stage.run(at: 2.9)
        #expect(stage.failures == 1)
        stage.isUnreadable = false
        stage.run(at: 3)
        #expect(stage.started.map(\.sequence) == Array(1...3000))
    }

    @Test func withStrictOrderSourcesThatWaitForARetryLeaveMemoryToOthers() throws {
        var stage = Stage([]) { $0.isStrictlyOrdered = true }
        stage.receive(self.messages(1...4000, of: "a", "b", "c", "d", "e", "f", "g", "h"))
        for _ in 1...8 {
            let claim = try #require(stage.machine.claim(at: 1))
            stage.machine.answer(claim.call, .result(.failed), at: 1)
        }
        stage.receive(self.messages(4001...4001, of: "quick"))
        stage.run(at: 1.1)
        #expect(stage.started.map(\.sequence) == [4001])
        // When the pauses are over everything goes on, in order.
        stage.run(at: 3)
        for source in ["a", "h"] {
            let order = stage.started.filter { $0.source == source }.map(\.sequence)
            #expect(order == order.sorted())
            #expect(order.count == 500)
        }
        #expect(stage.waiting == [])
    }

    @Test func quickHandlersAreNotMadeToShare() {
        var stage = Stage([])
        // Nothing happened for long, and then a lot at once.
        stage.receive(self.messages(1...5000, of: "a"), at: 100)
        #expect(stage.machine.machine.nextDeadline ?? .seconds(200) > .seconds(100))
        stage.run(at: 100.05)
        stage.run(at: 200)
        #expect(stage.started.map(\.sequence) == Array(1...5000))
        #expect(stage.looked == 0)
    }

    @Test func aSourceThatFillsMemoryKeepsItWhileThereIsNothingElseToRead() throws {
        var stage = Stage(["a"])
        stage.receive(self.messages(1...1200, of: "a"))
        stage.run(at: 1)
        for call in stage.calls { stage.machine.answer(call, .result(.newData), at: 1) }
        stage.slow = []
        // Enough to have the rest read, of which nothing is left then.
        while stage.waiting.count > 0, let claim = stage.machine.claim(at: 1) {
            stage.machine.end(
                claim.call, .init(repeating: .result(.newData), count: claim.messages.count),
                position: claim.messages.count - 1, at: 1)
            for load in stage.machine.output().loads { stage.answer(load, at: 1) }
        }
        #expect(stage.waiting == [])
        #expect(stage.machine.machine.nextDeadline == nil)
    }

    @Test func whatArrivedWhileSharingBeganIsReadBackInOrder() throws {
        let machine = TestMachine.open {
            $0.messagesInMemory = 16
            $0.concurrentHandlers = 1
        }
        machine.time(1)
        func rows(_ range: ClosedRange<Int64>) -> [TestMessage] { range.map { TestMessage(sequence: $0) } }
        #expect(machine.machine.reserve(16, installation: 1, now: .seconds(1)) == 16)
        machine.machine.received(rows(1...16), releasing: 16, now: .seconds(1))
        #expect(machine.machine.reserve(5, installation: 1, now: .seconds(1)) == 0)
        for count in [1, 2, 4] {
            let claim = try #require(machine.claim(at: 1))
            #expect(claim.messages.count == count)
            machine.end(
                claim.call, .init(repeating: .result(.newData), count: count), position: count - 1, at: 1)
        }
        let page = try #require(machine.output().loads.first)
        machine.load(page, rows(17...21), isComplete: true, at: 1)
        let slow = try #require(machine.claim(at: 1))
        // Stored as in hand, and not decoded yet, when something else fills memory and sources begin to share.
        #expect(machine.machine.reserve(1, installation: 1, now: .seconds(1)) == 1)
        #expect(machine.machine.reserve(2, installation: 1, now: .seconds(1)) == 1)
        machine.time(1.1)
        let scan = try #require(machine.output().loads.first)
        #expect(scan.kind == .scan(after: 0))
        machine.machine.received(rows(22...22), releasing: 2, now: .seconds(1.1))
        #expect(machine.changes() == [.change(22, .waiting)])
        machine.load(scan, rows(16...21), isComplete: true, at: 1.1)
        machine.end(
            slow.call, .init(repeating: .result(.newData), count: slow.messages.count),
            position: slow.messages.count - 1, at: 1.1)
        var waiting = Set<Int64>(16...22)
        var started: [Int64] = []
        while true {
            let output = machine.output()
            for commitment in output.commitments {
                waiting.subtract(commitment.keys.map(\.sequence))
                machine.machine.committed(commitment.keys)
            }
            for load in output.loads {
                guard case .scan(let after) = load.kind else {
                    let all = rows(16...22).filter { waiting.contains($0.sequence) }
                    waiting = []
                    machine.load(load, all, isComplete: true, at: 1.1)
                    continue
                }
                let all = rows(16...22).filter { waiting.contains($0.sequence) && $0.sequence > after }
                machine.load(
                    load, Array(all.prefix(load.limit)), isComplete: all.count < load.limit, at: 1.1)
            }
            let claim = machine.claim(at: 1.1)
            if let claim {
                started += claim.messages.map(\.sequence)
                machine.end(
                    claim.call, .init(repeating: .result(.newData), count: claim.messages.count),
                    position: claim.messages.count - 1, at: 1.1)
            }
            if claim == nil, output.isEmpty { break }
        }
        #expect(started == Array(12...22))
        #expect(waiting == [])
    }

    @Test func aDeadLetterThatIsTriedAgainIsFoundBehindTheScan() {
        var stage = Stage(["a"])
        stage.receive(self.messages(2...2000, of: "a"))
        stage.run(at: 1)
        stage.run(at: 1.1)
        stage.rows[1] = TestMessage(sequence: 1, source: "quick")
        stage.waiting.insert(1)
        stage.machine.machine.requeued(1, installation: 1)
        stage.run(at: 1.1)
        #expect(stage.started.last?.sequence == 1)
    }
}
