/// Decides which message is handed to a handler when, and what its answer means. Pure: no clock, no thread, no store.
/// Events come in as calls with the time as an argument. What is to be done about them is collected in ``output``.
///
/// The way of a message:
///
/// - *waiting* in the store. Exits: *queued*, when its source is claimed.
/// - *queued* in its source. Exits: *called*, when its source is free and its turn has come; *waiting*, when its agent
///   stops, or its source has more than its share of a full memory, or one before it failed and the order is strict.
/// - *suspect*: it was in hand when an earlier process ended. Exits: *called* alone, once that is durable. In strict order
///   it is held in its queue while one before it waits for its retry.
/// - *called*: a ``DeliveryCall`` holds it. Exits: done, dead, presented, set aside, *retry*; *queued*, when its call ends
///   before its handler was called, or *waiting*, if its agent has stopped.
/// - *retry*: a row with a due time, and nothing in memory. Exits: *queued*, when it is due and claimed; done, by a late
///   success. A late success also makes a dead letter done.
package struct Scheduler: Sendable {
    package let configuration: DeliveryConfiguration
    package let scale: DeliveryScale
    package internal(set) var output = SchedulerOutput()
    package internal(set) var isDraining = false
    /// Whether ``SchedulerOutput/notes`` are collected.
    package var isObserved = true
    /// The store fails: nothing is claimed and no call starts, since a verdict could not be stored.
    package var isStoreFailing = false { didSet { if self.isStoreFailing, !oldValue { self.cutCalls() } } }

    // Sources that have something.
    var sources: [Source] = []
    var freePlaces: [Int] = []
    var places: [SourceID: Int] = [:]
    var latest: (id: SourceID, place: Int)?
    /// Those that a call may start of, in the order in which they became so.
    var ready = Fifo<Int>()
    /// How many sources have rows that wait in the store.
    var backlogged = 0
    /// What the messages in memory weigh, those on their way to it included.
    package internal(set) var memoryWeight = 0

    // Calls, by the slot that they share with the ``AnswerBox``.
    var calls: [CallRecord?] = []
    var freeSlots: [Int] = []
    var lastCall = 0
    /// The most messages of a call. Long ones cost less while handlers are quick; while they are slow, sources take turns.
    var batch = 1
    /// Calls that are not over, those included that wait for a worker.
    var handedOut = 0
    /// Not before then is a call overdue.
    var callsDue: MonotonicInstant?
    package internal(set) var stuckCount = 0
    /// Calls keep their places for good, since as many are stuck as may be.
    var losesPlaces = false
    var shortage: HandlerShortage?
    var suspects = Fifo<QueuedMessage>()
    /// With strict order: suspects in the queues of their sources. They stay in hand until they are called: in the
    /// store they would wait behind later ones.
    var heldSuspects: Set<Int64> = []
    var alone = AloneRun.none
    var uncommitted: [Int64: UncommittedAnswer] = [:]
    /// What users did with notifications whose messages are called.
    var reactions: [Int64: Reaction] = [:]
    /// Messages that a late answer has ended while a call held them, or the store was asked for them.
    var finished: Set<Int64> = []

    // What is to be read.
    var intakes: [Int64: Intake] = [:]
    var lastAttachment = 0
    var wants = Fifo<Want>()
    /// When to look for retries in the store, or to repeat a claim that failed.
    var looks = Agenda<Int64>()
    /// Installations whose list of sources goes on when there is room for more.
    var stalled: Set<Int64> = []
    /// Since when memory has been too full for what is to be read.
    var crowdedSince: MonotonicInstant?
    /// Memory is to be shared once the calls have given back what they have not started.
    var isTrimDue = false
    var now = MonotonicInstant(nanoseconds: 0)

    package init(configuration: DeliveryConfiguration = .init()) {
        self.configuration = configuration
        self.scale = configuration.scale
    }

    package mutating func takeOutput() -> SchedulerOutput {
        var taken = SchedulerOutput()
        swap(&taken, &self.output)
        return taken
    }

    package var isIdle: Bool { self.handedOut == 0 }

    package func isIdle(_ installation: Int64) -> Bool {
        !self.calls.contains { call in
            call.map { !$0.isStuck && self.sources[$0.place].id.installation == installation } ?? false
        }
    }

    /// Whether messages wait in memory, or in the store, for a call.
    package var hasQueues: Bool {
        // Looking is worth it for a few sources only.
        self.places.count > 64 || self.backlogged > 0 || self.places.values.contains { !self.sources[$0].queue.isEmpty }
    }

    /// How many calls may run at once, those included that are stuck.
    package var runningLimit: Int {
        min(max(1, self.configuration.concurrentHandlers), self.shortage?.places ?? .max) + self.stuckCount
    }

    mutating func note(
        _ kind: @autoclosure () -> MessageEvent.Kind, _ sequence: Int64, _ installation: Int64,
        _ message: QueuedMessage? = nil
    ) {
        guard self.isObserved else { return }
        self.output.notes.append(
            DeliveryNote(sequence: sequence, installation: installation, kind: kind(), message: message))
    }

    mutating func note(_ kind: @autoclosure () -> MessageEvent.Kind, _ message: QueuedMessage) {
        self.note(kind(), message.sequence, message.installation, message)
    }

    /// Counts attempts and crashes on top of those that the message has.
    mutating func change(
        _ message: QueuedMessage, _ verdict: MessageChange.Verdict, attempts: Int = 0, crashes: Int = 0,
        attempt: MessageChange.Attempt? = nil
    ) {
        self.change(
            message.sequence, message.installation, verdict, attempts: message.attempts + attempts,
            crashes: message.crashes + crashes, attempt: attempt, bytes: message.bytes)
    }

    mutating func change(
        _ sequence: Int64, _ installation: Int64, _ verdict: MessageChange.Verdict, attempts: Int = 0,
        crashes: Int = 0, attempt: MessageChange.Attempt? = nil, bytes: Int? = nil
    ) {
        self.output.changes.append(
            MessageChange(
                sequence: sequence, installation: installation, verdict: verdict, attempts: attempts, crashes: crashes,
                attempt: attempt, bytes: bytes))
    }

    var room: Int { self.configuration.messagesInMemory - self.memoryWeight }
}

/// What a scheduler wants done.
package struct SchedulerOutput: Sendable {
    /// To be written, in this order, before what is claimed is read.
    package var changes: [MessageChange] = []
    package var claims: [StoreClaim] = []
    /// How far they came is told by ``Scheduler/cut(_:position:startedAt:)``.
    package var cuts: [CallID] = []
    package var calls: [DeliveryCall] = []
    /// How many calls hold no place any more that no worker had.
    package var freedPlaces = 0
    /// Messages that a late answer has ended, wherever they were.
    package var ended: [Int64] = []
    package var notes: [DeliveryNote] = []
    /// Why fewer calls run than may, in order; `nil`: such a reason is gone.
    package var stalls: [DeliveryStall?] = []
}

/// What the user did with a notification whose message is in a call: done when its attempt is over.
enum Reaction: Sendable {
    case opened(DeliveryOpening)
    case dismissed
    case withdrawn
}

/// A time without new handlers: the machine lacks memory, descriptors or processes, or the handler asked for a pause.
struct HandlerShortage: Sendable {
    /// The most calls at once: the number that ran when another handler could not be started.
    var places = Int.max
    /// When `places` is lifted and, a pause later, the shortage ends unless a start fails again.
    var over: MonotonicInstant
    /// The stall that observers know.
    var stall: DeliveryStall?
}

/// The message that runs alone because it may be what ended an earlier process.
enum AloneRun: Sendable {
    /// Nothing runs alone. Exits: `committing`, when a suspect waits and no call is under way.
    case none
    /// The attempt is being recorded. Exits: `running`, when it is durable.
    case committing(QueuedMessage)
    /// It runs in this call. Exits: `none`, when the call is over.
    case running(Int)
}
