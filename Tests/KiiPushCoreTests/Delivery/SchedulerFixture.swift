@testable import KiiPushCore

/// A call that a worker has taken.
final class TestCall {
    fileprivate let call: DeliveryCall
    fileprivate(set) var position = 0
    /// Whether a worker is at it.
    fileprivate(set) var isHeld = true

    fileprivate init(_ call: DeliveryCall) { self.call = call }

    /// What the call was handed out with.
    var sequences: [Int64] { self.call.messages.map(\.sequence) }
    /// The message that its handler was called with last.
    var message: QueuedMessage { self.call.messages[self.position] }
    var sequence: Int64 { self.message.sequence }
    var attempt: Int { self.message.attempts + 1 }

    fileprivate var ticket: AnswerTicket {
        AnswerTicket(sequence: self.sequence, call: self.call.id, position: self.position)
    }
}

/// A scheduler in the hands of a test, which says what time it is and plays the workers; the rows of the store are in
/// a dictionary. It is told what happens, and what it wants is done, in the order in which ``Pipeline`` does it.
@dynamicMemberLookup
final class TestScheduler {
    var scheduler: Scheduler
    var rows = TestRows()
    /// Nothing is written: changes and claims stay in ``pending``.
    var holdsCommits = false
    /// Claims cannot be answered.
    var failsReads = false
    /// Between a look at a call whose time is over and the end of its attempt.
    var whenOverdue: (() -> Void)?
    /// What is to be written next.
    var pending: [MessageChange] = []
    var claims: [StoreClaim] = []
    var arrivals: [StoredMessage] = []
    /// What was claimed until now.
    var asked: [StoreClaim] = []
    // What has come of it, and nobody has looked at.
    var written: [MessageChange] = []
    var happened: [DeliveryNote] = []
    var stallsTold: [DeliveryStall?] = []
    let clock = TestClock()
    let box: AnswerBox
    let queue: CallQueue

    init(rows: TestRows = TestRows(), _ change: (inout DeliveryConfiguration) -> Void = { _ in }) {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        self.scheduler = Scheduler(configuration: configuration)
        // As if handlers had been quick for long: a call brings all that its source has.
        self.scheduler.batch = 1024
        self.rows = rows
        let clock = self.clock
        self.box = AnswerBox(clock: { clock.now }, wake: {})
        self.queue = CallQueue(places: max(1, configuration.concurrentHandlers))
        self.clock.set(.seconds(0))
    }

    /// One that has read everything that its store held, which was nothing.
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

    // MARK: - What happens

    func attach(_ installation: Int64 = 1, takesCommands: Bool = false) {
        self.scheduler.attached(installation, takesCommands: takesCommands)
    }

    func detach(_ installation: Int64 = 1) { self.scheduler.detached(installation) }
    func drain() { self.scheduler.drain() }
    func opened(_ opening: DeliveryOpening) {
        self.collectAnswers(closing: opening.message.sequence)
        self.scheduler.opened(opening)
    }
    func dismissed(_ sequence: Int64) { self.scheduler.dismissed(sequence, installation: 1) }
    func withdrawn(_ sequence: Int64) { self.scheduler.withdrawn(sequence, installation: 1) }
    func joined(_ sequence: Int64) { self.scheduler.joined(sequence, installation: 1) }
    func record(_ change: MessageChange) { self.pending.append(change) }

    /// Whether a message of so many bytes may be in hand as soon as it is stored.
    func admit(_ source: SourceID, bytes: Int = 0) -> Bool { self.scheduler.admit(source, bytes: bytes) }

    /// Messages come from the network, to be stored in the next turn.
    func receive(_ sequences: Int64..., of source: String = "a") {
        self.receive(sequences.map { .push($0, source: source) })
    }

    func receive(_ messages: [StoredMessage]) { self.arrivals += messages }

    /// Messages wait in the store that did not.
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

    /// A person decides about a message.
    ///
    /// - Returns: since when its handler has been running, if that is why nothing is changed.
    @discardableResult
    func release(_ sequence: Int64) -> MonotonicInstant? {
        self.collectAnswers(closing: sequence)
        if let call = self.scheduler.callHolding(sequence) { self.cut(call) }
        if let since = self.scheduler.runningSince(sequence) { return since }
        self.scheduler.release(sequence, installation: 1)
        self.pending.removeAll { $0.sequence == sequence }
        return nil
    }

    /// A person has a message tried again that was given up on.
    func requeue(_ sequence: Int64) {
        self.release(sequence)
        self.rows.requeue(sequence)
        if let message = self.rows.message(sequence) { self.appeared(message) }
    }

    /// The machine sleeps.
    func sleep(_ duration: Duration) {
        self.rows.bringForward(by: duration)
        self.scheduler.machineSlept(at: self.now)
    }

    // MARK: - What has come of it since the last time

    /// What was written, without when attempts ran.
    func changes() -> [MessageChange] { self.takeWritten().map(\.untimed) }

    /// When the attempts ran that led to what was written.
    func attempts() -> [MessageChange.Attempt?] { self.takeWritten().map(\.attempt) }

    private func takeWritten() -> [MessageChange] {
        defer { self.written = [] }
        return self.written
    }

    func events() -> [MessageEvent.Kind] {
        defer { self.happened = [] }
        return self.happened.map(\.kind)
    }

    func stalls() -> [DeliveryStall?] {
        defer { self.stallsTold = [] }
        return self.stallsTold
    }

    // MARK: - Workers

    /// A worker takes the next call, if there is one and a place for it, and calls the handler of its first message.
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

    /// The handler answers and returns; its worker goes on with the call's next message if it may.
    func answer(_ call: TestCall, _ verdict: HandlerVerdict, at seconds: Double) {
        self.clock.set(.seconds(seconds))
        _ = self.box.answer(call.ticket, verdict)
        self.end(call, at: seconds)
    }

    /// The handler answers, or whoever holds its completion, and its call goes on or has returned before.
    @discardableResult
    func reply(_ call: TestCall, _ verdict: HandlerVerdict, at seconds: Double) -> Bool {
        self.clock.set(.seconds(seconds))
        let counts = self.box.answer(call.ticket, verdict)
        self.turn(at: seconds)
        return counts
    }

    /// Whoever holds its completion answers, and the loop has not taken a turn yet.
    func replyBetweenTurns(_ call: TestCall, _ verdict: HandlerVerdict) -> Bool {
        self.box.answer(call.ticket, verdict)
    }

    /// The handler returns. If it has not answered, somebody holds its completion.
    func end(_ call: TestCall, at seconds: Double) {
        self.clock.set(.seconds(seconds))
        self.endBetweenTurns(call)
        self.turn(at: seconds)
    }

    /// The handler returns, and the loop has not taken a turn yet.
    func endBetweenTurns(_ call: TestCall) {
        self.follow(self.box.returned(call.call, isYielding: false, at: self.now), call)
    }

    /// The message is shown to the user, which takes until `show` returns.
    func present(_ call: TestCall, _ show: () -> Bool) -> Bool? { self.box.present(call.call.id, show) }

    private func follow(_ step: AnswerBox.Step, _ call: TestCall) {
        switch step {
        case .call(let position, _): call.position = position
        case .done(let isPlaceKept):
            call.isHeld = false
            if !isPlaceKept { self.queue.leave() }
        }
    }

    /// Has every message that may start come to this, as soon as it is called.
    ///
    /// - Returns: in which order they were called.
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
