/// What delivery knows, all of it under one lock.
struct DeliveryState {
    typealias Machine = DeliveryMachine<DecodedMessage>

    /// Something to be decoded: a batch from the network, or a page from the store.
    struct Inbound: Sendable {
        var messages: [StoredMessage]
        /// Of the room that was reserved, what this takes, by weight.
        var reserved = 0
        var load: (request: DeliveryLoad, page: DeliveryPage)?
    }

    /// What a thread does next.
    enum Job {
        case handle(DeliveryClaim<DecodedMessage>, DeliveryAttachment?, at: MonotonicInstant)
        case decode(Inbound, [Int64: DeliveryAttachment])
    }

    struct Worker {
        var thread: DeliveryThread?
        /// It runs a handler, so nobody may wait for it.
        var isInCall = false
    }

    /// Somebody who waits until nothing runs any more, or the deadline.
    struct Drain {
        /// Whose calls are waited for; `nil` for all.
        var installation: Int64?
        var deadline: MonotonicInstant
        var continuation: CheckedContinuation<Bool, Never>
    }

    var machine: Machine
    var attachments: [Int64: DeliveryAttachment] = [:]
    var inbound = Fifo<Inbound>()
    /// One thread decodes at a time, so that messages stay in order.
    var isDecoding = false
    var gates: [Int: CallGate] = [:]
    /// When answers are collected, by call: a handler may go on for long after its answer, or the next message's may.
    var collections: [Int: MonotonicInstant] = [:]
    var tasks: [Int: Task<Void, Never>] = [:]
    /// One thread hands out the output at a time, so that changes stay in order.
    var flusher: DeliveryThread?
    var drains: [Drain] = []
    var isStopped = false

    // Threads.
    var workers: [Int: Worker] = [:]
    var lastWorker = 0
    /// Threads that wait for work, and how many of them have been signalled and not yet woken.
    var idle = 0
    var signalled = 0
    var timer: DeliveryThread?
    var isTimerStarted = false
    /// What the timer sleeps until; `nil` while it does not sleep, or without an end.
    var timerWakesAt: MonotonicInstant?
    var isTimerAsleep = false
    /// The system gave no thread the last time, and that was told.
    var isStalled = false
    /// Until then no thread is asked for.
    var isRetryPlanned = false

    /// What is to be done outside the lock so that there are threads for the work there is.
    struct Staffing {
        var signals = 0
        var newWorkers: [Int] = []
        var startsTimer = false
        var signalsTimer = false
    }

    /// How long an answer waits at most for the end of its call.
    static let collectionDelay: Duration = .milliseconds(100)

    /// Takes over what was answered in a call that goes on.
    mutating func collect(_ call: Int, _ gate: CallGate, at now: MonotonicInstant) {
        gate.examine(call) { progress in
            self.machine.reported(call, progress, now: now)
            return false
        }
    }

    mutating func collectDue(at now: MonotonicInstant) {
        for (call, due) in self.collections where due <= now {
            self.collections[call] = nil
            if let gate = self.gates[call] { self.collect(call, gate, at: now) }
        }
    }

    mutating func nextJob(at now: MonotonicInstant) -> Job? {
        if let claim = self.machine.claim(now: now) {
            let installation = claim.messages[0].installation
            return .handle(claim, self.attachments[installation], at: now)
        }
        return self.takeInbound().map { .decode($0, self.attachments) }
    }

    /// What is to be decoded next, if nobody is at that.
    mutating func takeInbound() -> Inbound? {
        guard !self.isDecoding, let inbound = self.inbound.popFirst() else { return nil }
        self.isDecoding = true
        return inbound
    }

    /// Takes out what is to be decoded of some installations.
    mutating func takeInbound(of isTaken: (_ installation: Int64) -> Bool) -> [Inbound] {
        var (taken, kept): ([Inbound], [Inbound]) = ([], [])
        while var next = self.inbound.popFirst() {
            // A turn's messages may be of several.
            var own = next
            own.messages.removeAll { !isTaken($0.installation) }
            own.reserved = own.messages.reduce(0) { $0 + self.machine.scale.weight(of: $1.bytes) }
            next.messages.removeAll { isTaken($0.installation) }
            next.reserved -= own.reserved
            if own.load.map({ isTaken($0.request.installation) }) ?? !own.messages.isEmpty { taken.append(own) }
            if next.load.map({ !isTaken($0.request.installation) }) ?? !next.messages.isEmpty { kept.append(next) }
        }
        for inbound in kept { self.inbound.append(inbound) }
        return taken
    }

    /// What came is not taken into memory, after its messages were declined.
    mutating func leave(_ inbound: Inbound, at now: MonotonicInstant) {
        if let (request, page) = inbound.load {
            self.machine.loaded(request, page, messages: [], now: now)
        } else {
            self.machine.received([], releasing: inbound.reserved, now: now)
        }
    }

    mutating func staff() -> Staffing {
        var staffing = Staffing()
        guard !self.isStopped else { return staffing }
        let jobs = self.machine.claimableCount + (self.isDecoding || self.inbound.isEmpty ? 0 : 1)
        staffing.signals = min(jobs, self.idle - self.signalled)
        self.signalled += staffing.signals
        // Threads that were signalled take a job each; for the others there are fresh threads up to the limit.
        let missing = self.isRetryPlanned ? 0 : min(jobs - self.signalled, self.workerLimit - self.workers.count)
        for _ in 0..<max(0, missing) {
            self.lastWorker += 1
            self.workers[self.lastWorker] = Worker()
            staffing.newWorkers.append(self.lastWorker)
        }
        guard let deadline = self.nextDeadline else { return staffing }
        if !self.isTimerStarted {
            guard !self.isRetryPlanned else { return staffing }
            self.isTimerStarted = true
            staffing.startsTimer = true
        } else if self.isTimerAsleep, self.timerWakesAt.map({ deadline < $0 }) ?? true {
            self.timerWakesAt = deadline
            staffing.signalsTimer = true
        }
        return staffing
    }

    /// Handlers that are stuck keep their threads, so fresh ones take over.
    var workerLimit: Int { max(1, self.machine.configuration.concurrentHandlers) + self.machine.stuckCount }

    var nextDeadline: MonotonicInstant? {
        [self.drains.map(\.deadline).min(), self.collections.values.min(), self.machine.nextDeadline]
            .compactMap(\.self).min()
    }

    /// Whether everything that the drain waits for has come to its end, and was handed to the store.
    private func isDrained(_ drain: Drain) -> Bool {
        guard self.inbound.isEmpty, !self.isDecoding, self.flusher == nil, self.machine.output.isEmpty else {
            return false
        }
        guard let installation = drain.installation else { return self.machine.isDraining && self.machine.isIdle }
        return self.machine.isIdle(installation)
    }

    /// The drains that have come to their end, and whether it is the one they hoped for.
    mutating func takeFinishedDrains(now: MonotonicInstant) -> [(continuation: CheckedContinuation<Bool, Never>, Bool)]
    {
        guard !self.drains.isEmpty else { return [] }
        var finished: [(continuation: CheckedContinuation<Bool, Never>, Bool)] = []
        var remaining: [Drain] = []
        for drain in self.drains {
            let isDrained = self.isDrained(drain)
            if isDrained || self.isStopped || drain.deadline <= now {
                finished.append((drain.continuation, isDrained))
            } else {
                remaining.append(drain)
            }
        }
        self.drains = remaining
        return finished
    }
}

/// Whom the messages of one installation go to, and how.
final class DeliveryAttachment: Sendable {
    let id: String
    let receiver: any Receiver
    let form: HandlerForm
    let commandHandler: (any ThingCommandHandler)?

    init(id: String, receiver: any Receiver) {
        self.id = id
        self.receiver = receiver
        self.form = HandlerForm(receiver.handler)
        self.commandHandler = receiver.handler as? any ThingCommandHandler
    }
}
