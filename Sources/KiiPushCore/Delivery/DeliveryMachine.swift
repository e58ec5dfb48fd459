/// Decides which message is handed to a handler when, and what its answer means. Pure: no clock, no thread, no store.
///
/// Events come in as calls with the time as an argument; what is to be done about them is collected in ``output``.
/// The way of a message:
///
/// - *queued* in its source. Exits: *running*, when its source is free, its turn has come and a place is free;
///   out of memory (`waiting` in the store), when delivery stops, or its source has more than its share of a full
///   memory.
/// - *suspect*: it was in hand when an earlier process ended. Exits: *running* alone, once that is durable. With strict
///   order it is *queued* first, if one before it waits for its retry.
/// - *running*: one of the ``DeliveryConfiguration/concurrentHandlers`` places is held. Exits: done, dead, presented,
///   set aside (`waiting` in the store, until the next attachment), or *retrying*.
/// - *retrying*: the pause after a failed attempt. Exits: *queued*, when the pause is over and it is durably in hand
///   again; done, by a late success; out of memory (`retry` in the store), when memory is a quarter full.
package struct DeliveryMachine<Message: Deliverable>: Sendable {
    typealias Entry = DeliveryEntry<Message>

    /// An attempt whose deadline has passed and whose completion may still be answered.
    struct LateAttempt: Sendable {
        var number: Int
        var installation: Int64
        /// Whether a success still counts: until the next attempt starts.
        var isOpen = true
    }

    package let configuration: DeliveryConfiguration
    package let scale: DeliveryScale
    /// Whether ``DeliveryOutput/events`` are collected.
    package var isObserved = false
    /// What is to be done, taken with ``takeOutput()``.
    package internal(set) var output = DeliveryOutput()
    package internal(set) var counters = DeliveryCounters()
    package internal(set) var isDraining = false

    // In memory.
    var present = DeliveryKeySet()
    var queues: SourceQueues<Message>
    var calls: [Int: DeliveryCall<Message>] = [:]
    var lastCall = 0
    /// Calls that have lost their place to a fresh thread.
    var stuckCalls: Set<Int> = []
    /// Calls keep their places for good, since ``stuckCalls`` holds as many as it may.
    var losesPlaces = false
    /// Handlers cannot be started, or could not a moment ago.
    var shortage: HandlerShortage?
    var retries = Agenda<Entry>()
    /// Retries whose pause is over, and rows that were admitted, that are not yet durably in hand.
    var committing: [DeliveryKey: Entry] = [:]
    /// By message, and by the call that the attempt was made in.
    var lateAttempts: [DeliveryKey: [Int: LateAttempt]] = [:]
    /// What users did with notifications whose messages are in hand.
    var reactions: [Int64: Reaction] = [:]
    var suspects = Fifo<Entry>()
    var alone = AloneRun<Message>.none

    // In the store.
    var intakes: [Int64: DeliveryIntake] = [:]
    var lastAttachment = 0
    /// Attachments that ended while a load of theirs was under way, by number, and what it may bring as it was before.
    var departed: [Int: (installation: Int64, outdated: Set<Int64>)] = [:]
    /// What of memory is promised to messages on their way to it, by weight.
    var reserved = 0
    var toLoad = Fifo<Int64>()
    /// When to look for retries in the store, or to repeat a load that failed.
    var toLoadLater = Agenda<Int64>()
    var loadsInFlight = 0
    /// Since when memory has been too full for what is to be read.
    var crowdedSince: MonotonicInstant?
    /// The time when it was last told.
    var latest = MonotonicInstant(nanoseconds: 0)

    package init(configuration: DeliveryConfiguration = .init()) {
        self.configuration = configuration
        self.scale = configuration.scale
        self.queues = SourceQueues(share: configuration.sourceShare, scale: self.scale)
    }

    /// What is to be done since the last time; it is the caller's to do now.
    package mutating func takeOutput() -> DeliveryOutput {
        var taken = DeliveryOutput()
        swap(&taken, &self.output)
        return taken
    }

    /// Whether no call holds a place.
    package var isIdle: Bool { self.calls.isEmpty }

    /// Whether no call of this installation holds a place.
    package func isIdle(_ installation: Int64) -> Bool {
        self.calls.values.allSatisfy { $0.current.message.installation != installation }
    }

    /// How many threads could start a call now.
    package var claimableCount: Int {
        if case .ready = self.alone { return 1 }
        guard self.mayStart else { return 0 }
        return min(self.queues.readyCount, self.places - self.calls.count)
    }

    /// How many calls hold a thread beyond the ordinary ones.
    package var stuckCount: Int { self.stuckCalls.count }

    /// What users did that is to be done yet, or that the store has not answered.
    package var reactionCount: Int { self.reactions.count }

    /// What the messages in memory weigh, those on their way to it included.
    package var memoryWeight: Int { self.present.weight + self.reserved }

    var mayStart: Bool {
        guard !self.isDraining, self.suspects.isEmpty, case .none = self.alone else { return false }
        return self.calls.count < self.places
    }

    /// How many calls may run at once, as it is now.
    private var places: Int { min(self.configuration.concurrentHandlers, self.shortage?.places ?? .max) }

    // MARK: - Starting

    /// Takes the next messages that are to be handled; `nil` when there are none or every place is taken.
    package mutating func claim(now: MonotonicInstant) -> DeliveryClaim<Message>? {
        self.latest = max(self.latest, now)
        if case .ready(let entry) = self.alone, !self.isDraining {
            var entry = entry
            entry.isSuspect = false
            let claim = self.start([entry], source: self.queues.occupy(entry.message), isAlone: true, now: now)
            self.alone = .running(call: claim.call)
            return claim
        }
        guard self.mayStart, let (source, entries) = self.queues.claim() else { return nil }
        return self.start(entries, source: source, isAlone: false, now: now)
    }

    private mutating func start(
        _ entries: consuming [Entry], source: Int, isAlone: Bool, now: MonotonicInstant
    ) -> DeliveryClaim<Message> {
        self.lastCall += 1
        var entries = entries
        if self.configuration.totalLimit != nil {
            for index in entries.indices where entries[index].firstStart == nil { entries[index].firstStart = now }
        }
        let call = DeliveryCall(source: source, entries: entries, startedAt: now, isAlone: isAlone)
        self.closeLateAttempts(of: entries[0].message.key)
        self.note(.started(attempt: entries[0].attempts + 1), entries[0].message)
        self.calls[self.lastCall] = call
        return DeliveryClaim(
            call: self.lastCall,
            messages: entries.map(\.message),
            attempts: entries.map { $0.attempts + 1 },
            deadline: call.deadline(self.configuration)
        )
    }

    /// No answer to an attempt that is over counts for the message any more.
    mutating func closeLateAttempts(of key: DeliveryKey) {
        guard !self.lateAttempts.isEmpty, let calls = self.lateAttempts[key]?.keys else { return }
        for call in calls { self.lateAttempts[key]?[call]?.isOpen = false }
    }

    // MARK: - Housekeeping

    /// Starts what has become possible. Called at the end of every event, with its time if it has one.
    mutating func settle(at now: MonotonicInstant? = nil) {
        if let now { self.latest = max(self.latest, now) }
        while let entry = self.queues.popSuspect() {
            // One of its source that came after it may have stayed in the list.
            self.suspects.insert(entry) { $0.message.sequence > entry.message.sequence }
        }
        self.beginAloneRun()
        if !self.reactions.isEmpty { self.applyReactions() }
        self.noteRefills()
        self.askForPages()
        if self.losesPlaces { self.regainPlaces() }
    }

    /// "After a crash the ones in hand are run one at a time with the attempt committed first."
    private mutating func beginAloneRun() {
        guard !self.isDraining, self.calls.isEmpty, self.shortage?.places != 0, case .none = self.alone,
            let entry = self.nextSuspect()
        else { return }
        self.alone = .committing(entry)
        var change = self.change(entry, .inHand, attempt: .init(number: entry.attempts + 1))
        change.attempts += 1
        change.crashes += 1
        self.output.commitments.append(.init(changes: [change], keys: [entry.message.key]))
    }

    private mutating func nextSuspect() -> Entry? {
        while let entry = self.suspects.popFirst() {
            // One before it may have failed when it ran alone, and waits for its retry now.
            guard self.configuration.isStrictlyOrdered, self.queues.holdsBack(entry) else { return entry }
            self.queues.putBack(entry)
        }
        return nil
    }

    func change(
        _ entry: Entry, _ verdict: DeliveryChange.Verdict, attempt: DeliveryChange.Attempt? = nil
    ) -> DeliveryChange {
        DeliveryChange(
            sequence: entry.message.sequence,
            installation: entry.message.installation,
            verdict: verdict,
            attempts: entry.attempts,
            crashes: entry.crashes,
            attempt: attempt
        )
    }

    mutating func note(_ kind: @autoclosure () -> DeliveryEvent.Kind, _ message: Message) {
        guard self.isObserved else { return }
        let event = DeliveryEvent(sequence: message.sequence, installation: message.installation, kind: kind())
        self.output.events.append(event)
    }
}
