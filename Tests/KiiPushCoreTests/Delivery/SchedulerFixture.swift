@testable import KiiPushCore

final class TestCall {
    fileprivate let call: DeliveryCall
    fileprivate(set) var position = 0
    fileprivate(set) var isHeld = true

    fileprivate init(_ call: DeliveryCall) { self.call = call }

    var sequences: [Int64] { self.call.messages.map(\.sequence) }
    /// The message with which the handler was called last.
    var message: QueuedMessage { self.call.messages[self.position] }
    var sequence: Int64 { self.message.sequence }
    var attempt: Int { self.message.attempts + 1 }

    fileprivate var ticket: AnswerTicket {
        AnswerTicket(sequence: self.sequence, call: self.call.id, position: self.position)
    }
}

/// A scheduler whose clock and workers are the test, and whose store is a dictionary of rows. It gets events and
/// carries out decisions in the same order as ``Pipeline``.
@dynamicMemberLookup
final class TestScheduler {
    var scheduler: Scheduler
    var rows = TestRows()
    /// Whether the store writes nothing: changes and claims stay in ``pending`` and ``claims``.
    var holdsCommits = false
    var failsReads = false
    /// Runs after the scheduler found an overdue call and before its attempt ends.
    var whenOverdue: (() -> Void)?
    var pending: [MessageChange] = []
    var claims: [StoreClaim] = []
    var arrivals: [StoredMessage] = []
    var asked: [StoreClaim] = []
    var written: [MessageChange] = []
    var happened: [DeliveryNote] = []
    var stallsTold: [String?] = []
    let clock = TestClock()
    let box: AnswerBox
    let queue: CallQueue

    init(rows: TestRows = TestRows(), _ change: (inout DeliveryConfiguration) -> Void = { _ in }) {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        self.scheduler = Scheduler(configuration: configuration)
        // Batches as after many quick handlers: a call gets all messages of its source.
        self.scheduler.batch = 1024
        self.rows = rows
        let clock = self.clock
        self.box = AnswerBox(clock: { clock.now }, wake: {})
        self.queue = CallQueue(places: max(1, configuration.concurrentHandlers))
        self.clock.set(.seconds(0))
    }

    static func open(
        installations: [Int64] = [1], _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) -> TestScheduler {
        let scheduler = TestScheduler(change)
        for installation in installations { scheduler.attach(installation) }
        scheduler.turn(at: 0)
        return scheduler
    }

    subscript<Value>(dynamicMember path: KeyPath<Scheduler, Value>) -> Value { self.scheduler[keyPath: path] }

    var isIdle: Bool { self.scheduler.isIdle }
    var now: MonotonicInstant { self.clock.now }

    // MARK: - Events

    func attach(_ installation: Int64 = 1, takesCommands: Bool = false) {
        self.scheduler.attached(installation, takesCommands: takesCommands)
    }

    func detach(_ installation: Int64 = 1) { self.scheduler.detached(installation) }
    func drain() { self.scheduler.drain() }
    func opened(_ sequence: Int64 = 1, by action: UserAction) {
        self.collectAnswers(closing: sequence)
        self.reacted(.opened(.push(sequence), by: action), to: sequence)
    }
    func reacted(_ reaction: Reaction, to sequence: Int64) {
        self.scheduler.reacted(reaction, to: sequence, installation: 1)
    }
    func joined(_ sequence: Int64) { self.scheduler.joined(sequence, installation: 1) }
    func record(_ change: MessageChange) { self.pending.append(change) }

    func admit(_ source: SourceID, bytes: Int = 0) -> Bool { self.scheduler.admit(source, bytes: bytes) }

    func receive(_ sequences: Int64..., of source: String = "a") {
        self.receive(sequences.map { .push($0, source: source) })
    }

    func receive(_ messages: [StoredMessage]) { self.arrivals += messages }

    func store(_ messages: [StoredMessage], goesFirst: Bool = false) {
        for message in messages {
            self.rows.insert(message)
            self.appeared(message, goesFirst: goesFirst)
        }
    }

    func appeared(_ message: StoredMessage, goesFirst: Bool = true) {
        self.scheduler.appeared(
            message.sequence, source: message.source, installation: message.installation, goesFirst: goesFirst)
    }

    /// Prepares a person's decision about a message.
    ///
    /// - Returns: the start of the handler's call if the handler is running; the scheduler then changes nothing.
    @discardableResult
    func release(_ sequence: Int64) -> MonotonicInstant? {
        self.collectAnswers(closing: sequence)
        if let call = self.scheduler.callHolding(sequence) { self.cut(call) }
        if let since = self.scheduler.runningSince(sequence) { return since }
        self.scheduler.release(sequence, installation: 1)
        self.pending.removeAll { $0.sequence == sequence }
        return nil
    }

    func requeue(_ sequence: Int64) {
        self.release(sequence)
        self.rows.requeue(sequence)
        if let message = self.rows.message(sequence) { self.appeared(message) }
    }

    func sleep(_ duration: Duration) {
        self.rows.bringForward(by: duration)
        self.scheduler.machineSlept(at: self.now)
    }

    // MARK: - Results since the last call

    func changes() -> [MessageChange] { self.takeWritten().map(\.untimed) }

    func attempts() -> [MessageChange.Attempt?] { self.takeWritten().map(\.attempt) }

    private func takeWritten() -> [MessageChange] {
        defer { self.written = [] }
        return self.written
    }

    func events() -> [MessageEvent.Kind] {
        defer { self.happened = [] }
        return self.happened.map(\.kind)
    }

    func stalls() -> [String?] {
        defer { self.stallsTold = [] }
        return self.stallsTold
    }

    // MARK: - Workers

    /// Lets a worker take the next call if the queue has a call and a free place. Calls the handler of the first
    /// message.
    func start(at seconds: Double) -> TestCall? {
        self.turn(at: seconds)
        while let taken = self.queue.take() {
            let call = TestCall(taken)
            self.follow(self.box.begin(taken), call)
            self.turn(at: seconds)
            if call.isHeld { return call }
        }
        return nil
    }

    /// The handler answers and returns. Its worker continues with the next message of the call if the call may go on.
    func answer(_ call: TestCall, _ verdict: HandlerVerdict, at seconds: Double) {
        self.clock.set(.seconds(seconds))
        _ = self.box.answer(call.ticket, verdict)
        self.end(call, at: seconds)
    }

    /// The holder of the completion answers, before or after the handler returned.
    @discardableResult
    func reply(_ call: TestCall, _ verdict: HandlerVerdict, at seconds: Double) -> Bool {
        self.clock.set(.seconds(seconds))
        let counts = self.box.answer(call.ticket, verdict)
        self.turn(at: seconds)
        return counts
    }

    func replyBetweenTurns(_ call: TestCall, _ verdict: HandlerVerdict) -> Bool {
        self.box.answer(call.ticket, verdict)
    }

    /// The handler returns. If it has not answered, its completion still exists.
    func end(_ call: TestCall, at seconds: Double) {
        self.clock.set(.seconds(seconds))
        self.endBetweenTurns(call)
        self.turn(at: seconds)
    }

    func endBetweenTurns(_ call: TestCall) {
        self.follow(self.box.returned(call.call, isYielding: false, at: self.now), call)
    }

    func present(_ call: TestCall, _ show: () -> Bool) -> Bool? { self.box.present(call.call.id, show) }

    private func follow(_ step: AnswerBox.Step, _ call: TestCall) {
        switch step {
        case .call(let position, _): call.position = position
        case .done(let isPlaceKept):
            call.isHeld = false
            if !isPlaceKept { self.queue.leave() }
        }
    }

    /// Starts every message that may start, and answers each with `verdict` as soon as its handler is called.
    ///
    /// - Returns: the messages in the order of their calls.
    func run(at seconds: Double, _ verdict: HandlerVerdict = .result(.newData)) -> [Int64] {
        var order: [Int64] = []
        while let call = self.start(at: seconds) {
            while call.isHeld {
                order.append(call.sequence)
                self.answer(call, verdict, at: seconds)
            }
        }
        return order
    }
}
