import KiiPushCore
import SeededNumbers

/// A machine, a store that works in its own time, and handlers that do whatever chance says. An inbox is told all that
/// the store does, and its ledger is held against the store's rows each time.
struct DeliverySimulation {
    enum Row: Equatable {
        case waiting
        case inHand
        case retry(due: Double)
        case presented
        case done
        case dead
    }

    struct Running {
        var call: Int
        var messages: [TestMessage]
        var attempts: [Int]
        var position = 0
        var hasReturned = false
        var isAnswered = false
    }

    enum StoreWork {
        case changes([DeliveryChange])
        case commitment(DeliveryOutput.Commitment)
        case load(DeliveryLoad)
    }

    /// What is still to be decoded, in the order of its coming.
    enum Inbound {
        case batch([TestMessage])
        case page(DeliveryLoad, DeliveryPage, [TestMessage])
    }

    var machine: DeliveryMachine<TestMessage>
    private let inbox: Inbox
    var random: SeededGenerator
    private(set) var time = 0.0
    var work: [StoreWork] = []
    var inbound: [Inbound] = []
    private(set) var messages: [Int64: TestMessage] = [:]
    var rows: [Int64: Row] = [:]
    var attempts: [Int64: Int] = [:]
    var crashes: [Int64: Int] = [:]
    var running: [Running] = []
    /// Completions that the deadline has overtaken: who holds them, and of which call.
    var overtaken: [(key: DeliveryKey, call: Int)] = []
    /// Dead letters that were tried again, and the calls before that.
    var triedAgain: [Int64: Set<Int>] = [:]
    private var firstStarts: [String: [Int64]] = [:]
    /// How many processes there have been, what the last one left in hand and has not run alone since, and its call that
    /// runs alone.
    var process = 1
    var suspects: Set<Int64> = []
    var aloneCall: Int?
    /// Messages come for a while, then none do.
    private var isQuiet = false
    /// How often rows were looked at past sources that keep to their share.
    private(set) var scans = 0
    /// Messages that have their last verdict, written or not.
    var ended: Set<Int64> = []
    var user = User()
    var shelf = Shelf()
    private var last: Int64 = 0
    /// Sentences about what must never be.
    var violations: [String] = []

    init(seed: UInt64, _ configuration: DeliveryConfiguration) throws {
        self.inbox = try Inbox(path: ":memory:")
        self.machine = DeliveryMachine(configuration: configuration)
        self.random = SeededGenerator(seed: seed)
        for installation in Self.installations { self.machine.attached(installation) }
    }

    static var installations: ClosedRange<Int64> { 1...2 }

    var sequenceCount: Int { Int(self.last) }
    var startOrders: [[Int64]] { Array(self.firstStarts.values) }
    /// The messages that have not come to an end.
    var unfinished: Set<Int64> = []

    mutating func step(receives: Bool, _ events: Events = []) throws {
        self.shelf.isOpen = receives && events.contains(.setAsides)
        self.time += Double.random(
            in: 0...(Int.random(in: 0..<20, using: &self.random) == 0 ? 40 : 0.5), using: &self.random)
        switch Int.random(in: 0..<13, using: &self.random) {
        case _ where events.contains(.restarts) && Int.random(in: 0..<150, using: &self.random) == 0: self.restart()
        case _ where events.contains(.interventions) && Int.random(in: 0..<50, using: &self.random) == 0:
            try self.intervene()
        case 0 where receives && Int.random(in: 0..<8, using: &self.random) == 0: self.isQuiet.toggle()
        case _ where events.contains(.presentations) && Int.random(in: 0..<8, using: &self.random) == 0:
            self.user.isThere = receives
            self.react()
        case 0...1 where receives && !self.isQuiet: try self.receive()
        case 0...4: self.start()
        case 5...6: self.progress()
        case 7: self.answerLate()
        case 8: self.tick()
        case 9...10: self.decode()
        default: try self.storeWorks()
        }
        self.noteEnds()
        // Another thread may be handing out what was asked for before, and this follows in one go with what comes next.
        if Int.random(in: 0..<4, using: &self.random) > 0 { self.collect() }
    }

    /// Receives nothing more, and goes on until every message has come to its end, if that comes.
    mutating func finish(_ events: Events = []) throws {
        if events.contains(.setAsides) { for installation in Self.installations { self.attachAnew(installation) } }
        var rest = 100_000
        while !self.unfinished.isEmpty, rest > 0 {
            try self.step(receives: false, events)
            rest -= 1
        }
    }

    private mutating func noteEnds() {
        for change in self.machine.output.changes {
            switch change.verdict {
            case .done, .dead: self.ended.insert(change.sequence)
            case .presented, .opened: self.user.shown.insert(change.sequence)
            case .retry, .inHand, .waiting, .unopened, .unpresented: break
            }
        }
    }

    mutating func collect() {
        let output = self.machine.takeOutput()
        if !output.changes.isEmpty { self.work.append(.changes(output.changes)) }
        self.work += output.commitments.map(StoreWork.commitment) + output.loads.map(StoreWork.load)
    }

    private mutating func receive() throws {
        let count = Int.random(in: 1...6, using: &self.random)
        let installation: Int64 = Int.random(in: 0..<4, using: &self.random) == 0 ? 2 : 1
        let bytes = (0..<count).map { (Int(self.last) + $0) * 137 % 500 }
        let granted = self.machine.reserve(
            count, installation: installation, now: .seconds(self.time), bytes: { bytes[$0] })
        var batch: [TestMessage] = []
        for index in 0..<count {
            self.last += 1
            let source = ["a", "b", "c", "d", "e"].randomElement(using: &self.random) ?? "a"
            var message = TestMessage(sequence: self.last, source: source, installation: installation)
            message.bytes = bytes[index]
            self.messages[self.last] = message
            self.rows[self.last] = index < granted ? .inHand : .waiting
            self.unfinished.insert(self.last)
            if index < granted { batch.append(message) }
        }
        if granted > 0 { self.inbound.append(.batch(batch)) }
        let isInHand = (0..<count).map { $0 < granted }
        try self.write { transaction throws(InboxError) in
            for state in isInHand { try transaction.insert(.sample(state: state ? .inHand : .waiting)) }
        }
    }

    /// Does to the inbox what was done to the rows, and compares the two.
    mutating func write(_ body: (InboxTransaction) throws(InboxError) -> Void) throws {
        try self.inbox.transaction(body)
        var expected = MessageLedger(received: self.last)
        for row in self.rows.values {
            switch row {
            case .waiting, .retry: expected.waiting += 1
            case .inHand: expected.running += 1
            case .presented: expected.presented += 1
            case .done: expected.done += 1
            case .dead: expected.dead += 1
            }
        }
        let ledger = self.inbox.messageLedger
        if ledger != expected || !ledger.isBalanced { self.violations.append("\(ledger); expected \(expected)") }
    }

    private mutating func start() {
        guard let claim = self.machine.claim(now: .seconds(self.time)) else { return }
        let running = Running(call: claim.call, messages: claim.messages, attempts: claim.attempts)
        self.noteStart(running)
        self.running.append(running)
    }

    private mutating func noteStart(_ call: Running) {
        let message = call.messages[call.position]
        if let row = self.rows[message.sequence], row == .done || row == .dead {
            self.violations.append("\(message.sequence) started after its end")
        }
        if self.shelf.now.contains(message.sequence) {
            self.violations.append("\(message.sequence) was set aside and started again")
        }
        self.noteOrder(call)
        // A call that is stuck has lost its place: that the message runs beside it is what is wanted.
        for other in self.running where !other.hasReturned && self.machine.isRunning(other.call) {
            let running = other.messages[other.position]
            if running.sequence == message.sequence { self.violations.append("\(message.sequence) runs twice") }
            if running.source == message.source, running.installation == message.installation {
                self.violations.append("source \(message.source) runs twice")
            }
        }
        if message.isUserOpened { self.user.told.insert(message.sequence) }
        if call.attempts[call.position] == 1, self.triedAgain[message.sequence] == nil, !message.isUserOpened,
            !self.shelf.ever.contains(message.sequence)
        {
            let source = "\(self.process)\(message.source)\(message.installation)"
            self.firstStarts[source, default: []].append(message.sequence)
        }
    }

    private mutating func verdict(isUserOpened: Bool = true) -> HandlerVerdict {
        switch Int.random(in: 0..<10, using: &self.random) {
        case _ where self.shelf.isOpen && Int.random(in: 0..<3, using: &self.random) == 0: .setAside
        case 0 where self.user.isThere && !isUserOpened: .presented
        case 0...4: .result(.newData)
        case 5: .result(.noData)
        case 6: .result(.failed)
        case 7: .threw("E")
        case 8: .unanswered
        default: .rejected("no")
        }
    }

    private mutating func progress() {
        guard let index = self.running.indices.randomElement(using: &self.random) else { return }
        var call = self.running[index]
        let message = call.messages[call.position]
        let isMine = self.machine.isRunning(call.call) && !self.machine.isOver(call.call)
        if call.hasReturned {
            // Its completion is answered later, by whoever holds it.
            let verdict = self.verdict()
            if isMine { self.note(verdict, message) }
            _ = self.machine.answered(
                message.key, call: call.call, verdict, now: .seconds(self.time))
            self.running.remove(at: index)
            return
        }
        guard isMine else {
            // Overtaken by its deadline: the call returns at last.
            self.overtaken.append((message.key, call.call))
            self.running.remove(at: index)
            self.machine.returned(call.call, self.report([], call), now: .seconds(self.time))
            return
        }
        if Int.random(in: 0..<4, using: &self.random) == 0 {
            call.hasReturned = true
            self.running[index] = call
            self.machine.returned(call.call, self.report([], call), isUnanswered: true, now: .seconds(self.time))
            return
        }
        let verdict = self.verdict(isUserOpened: message.isUserOpened)
        let progress = self.report([.init(index: call.position, verdict: verdict)], call)
        self.note(verdict, message)
        let isSuccess = [.result(.newData), .result(.noData), .setAside].contains(verdict)
        if isSuccess, call.position + 1 < call.messages.count, Bool.random(using: &self.random) {
            call.position += 1
            self.running.remove(at: index)
            self.noteStart(call)
            self.running.append(call)
            var next = self.report(progress.answers, call)
            next.startedAt = .seconds(self.time)
            self.machine.reported(call.call, next, now: .seconds(self.time))
            return
        }
        self.running.remove(at: index)
        self.machine.returned(call.call, progress, now: .seconds(self.time))
    }

    private func report(_ answers: [DeliveryProgress.Answer], _ call: Running) -> DeliveryProgress {
        DeliveryProgress(answers: answers, position: call.position, startedAt: .seconds(self.time))
    }

    private mutating func answerLate() {
        guard let index = self.overtaken.indices.randomElement(using: &self.random) else { return }
        let late = self.overtaken.remove(at: index)
        let sequence = late.key.sequence
        let counts = self.machine.answered(late.key, call: late.call, self.verdict(), now: .seconds(self.time))
        if counts, self.triedAgain[sequence]?.contains(late.call) == true {
            self.violations.append("an answer of before ended \(sequence), which was tried again")
        }
    }

    private mutating func tick() {
        guard let due = self.machine.nextDeadline else { return }
        self.time = max(self.time, Double(due.nanoseconds) / 1_000_000_000)
        self.machine.timerFired(now: .seconds(self.time))
        // Those that had returned and were not answered in time are in nobody's hands now.
        for call in self.running where call.hasReturned && !self.machine.isRunning(call.call) {
            self.overtaken.append((call.messages[call.position].key, call.call))
        }
        self.running.removeAll { $0.hasReturned && !self.machine.isRunning($0.call) }
    }

    private mutating func storeWorks() throws {
        guard !self.work.isEmpty else { return }
        switch self.work.removeFirst() {
        case .changes(let changes): try self.apply(changes)
        case .commitment(let commitment):
            try self.apply(commitment.changes)
            self.machine.committed(commitment.keys)
        case .load(let load): try self.answer(load)
        }
    }

    private mutating func apply(_ changes: [DeliveryChange]) throws {
        for change in changes {
            let row = self.rows[change.sequence]
            if self.applyReaction(change) { continue }
            if row == .done { self.violations.append("\(change.sequence) changed after it was done") }
            if row == .dead, case .done = change.verdict {
            } else if row == .dead {
                self.violations.append("\(change.sequence) changed after it was dead")
            }
            self.attempts[change.sequence] = change.attempts
            self.crashes[change.sequence] = change.crashes
            switch change.verdict {
            case .done, .dead:
                self.rows[change.sequence] = if case .dead = change.verdict { .dead } else { .done }
                self.unfinished.remove(change.sequence)
            case .retry(let after, _):
                self.rows[change.sequence] = .retry(due: self.time + Double(after.components.seconds))
            case .inHand: self.rows[change.sequence] = .inHand
            case .waiting: self.rows[change.sequence] = .waiting
            case .presented: self.rows[change.sequence] = .presented
            case .opened, .unopened, .unpresented: break
            }
        }
        try self.write { transaction throws(InboxError) in
            let clock = TurnClock(now: .at(0), instant: .seconds(0))
            for change in changes { try transaction.update(RowChange(change, at: clock), at: .at(0)) }
        }
    }

    private mutating func answer(_ load: DeliveryLoad) throws {
        if case .scan = load.kind { self.scans += 1 }
        guard Int.random(in: 0..<30, using: &self.random) > 0 else {
            let failure = DeliveryPage(messages: [], isComplete: false, isFailure: true)
            return self.inbound.append(.page(load, failure, []))
        }
        let all = self.unfinished.sorted().filter { sequence in
            guard self.messages[sequence]?.installation == load.installation else { return false }
            return switch (load.kind, self.rows[sequence]) {
            case (.waiting, .waiting): true
            case (.retries, .retry(let due)): due <= self.time
            case (.paused(let after), .retry): sequence > after
            case (.suspects(let after), .inHand): sequence > after
            case (.scan(let after), .waiting): sequence > after
            default: false
            }
        }
        var weight = 0
        let page = all.prefix { sequence in
            weight += load.scale.weight(of: self.messages[sequence]?.bytes ?? 0)
            return weight <= load.limit || sequence == all.first
        }
        let isMarked = load.kind.isMarking
        if isMarked { for sequence in page { self.rows[sequence] = .inHand } }
        let pauses = page.reduce(into: [Int64: Duration]()) { pauses, sequence in
            if case .retry(let due) = self.rows[sequence] { pauses[sequence] = .seconds(due - self.time) }
        }
        try self.write { transaction throws(InboxError) in
            for sequence in page where isMarked {
                try transaction.update(RowChange(sequence: sequence, state: .inHand), at: .at(0))
            }
        }
        let messages = page.compactMap { sequence -> TestMessage? in
            var message = self.messages[sequence]
            message?.attempts = self.attempts[sequence] ?? 0
            message?.crashes = self.crashes[sequence] ?? 0
            message?.pause = pauses[sequence]
            if case .suspects = load.kind { message?.wasInHand = true }
            message?.isUserOpened = self.user.written.contains(sequence)
            return message
        }
        let dues = self.unfinished.compactMap { sequence -> Double? in
            guard self.messages[sequence]?.installation == load.installation else { return nil }
            return if case .retry(let due) = self.rows[sequence] { due } else { nil }
        }
        let next = load.kind == .retries ? dues.min().map { Duration.seconds(max(0, $0 - self.time)) } : nil
        self.inbound.append(
            .page(
                load,
                .init(messages: page.map { .push($0) }, isComplete: page.count == all.count, nextRetry: next),
                messages))
    }

    private mutating func decode() {
        guard !self.inbound.isEmpty else { return }
        switch self.inbound.removeFirst() {
        case .batch(let messages):
            let weight = messages.reduce(0) { $0 + self.machine.scale.weight(of: $1.bytes) }
            self.machine.received(messages, releasing: weight, now: .seconds(self.time))
        case .page(let load, let page, let messages):
            self.machine.loaded(load, page, messages: messages, now: .seconds(self.time))
        }
    }
}
