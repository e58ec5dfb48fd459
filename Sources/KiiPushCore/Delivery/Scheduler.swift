/// Decides when to hand which message to a handler, and what the answer means. Pure: no clock, no thread, no store.
/// Events come in as calls with the time as an argument. ``output`` collects the decisions.
///
/// The states of a message:
///
/// - *waiting* in the store. Exits: *queued*, when its source is claimed.
/// - *queued* in its source. Exits: *called*, when its source is free and its turn has come; *waiting*, when its agent
///   stops, or its source has more than its share of a full memory, or an earlier message failed and the order is
///   strict.
/// - *suspect*: the message was in hand when an earlier process ended. Exits: *called* alone, once that is durable.
///   With strict order its queue holds it while an earlier message waits for its retry.
/// - *called*: a ``DeliveryCall`` holds it. Exits: done, dead, presented, set aside, *retry*; *queued*, when its call
///   ends before its handler was called, or *waiting*, if its agent has stopped.
/// - *retry*: a row with a due time, and nothing in memory. Exits: *queued*, when it is due and claimed; done, by a
///   late success. A late success also makes a dead letter done.
package struct Scheduler: Sendable {
    package let configuration: DeliveryConfiguration
    package let scale: DeliveryScale
    package internal(set) var output = SchedulerOutput()
    package internal(set) var isDraining = false
    /// Whether ``SchedulerOutput/notes`` are collected.
    package var isObserved = true
    /// The store fails: the scheduler claims nothing and starts no call, since the store could not keep a verdict.
    package var isStoreFailing = false { didSet { if self.isStoreFailing, !oldValue { self.cutCalls() } } }

    // Sources that have something.
    var sources: [Source] = []
    var freePlaces: [Int] = []
    var places: [SourceID: Int] = [:]
    var latest: (id: SourceID, place: Int)?
    /// Places with a source that a call may start for, in the order in which they became ready.
    var ready = Fifo<Int>()
    /// Number of sources with waiting rows.
    var backlogged = 0
    /// The weight of the messages in memory, including messages on their way to it.
    package internal(set) var memoryWeight = 0

    // Calls, by the slot that they share with the ``AnswerBox``.
    var calls: [CallRecord?] = []
    var freeSlots: [Int] = []
    var lastCall = 0
    /// The most messages of a call. Long calls cost less while handlers are quick; with slow handlers, sources take
    /// turns.
    var batch = 1
    /// Number of calls that are not over, including calls that wait for a worker.
    var handedOut = 0
    /// No call is overdue before this time.
    var callsDue: MonotonicInstant?
    package internal(set) var stuckCount = 0
    /// Calls keep their places for good, since as many calls are stuck as may be.
    var losesPlaces = false
    var shortage: HandlerShortage?
    var suspects = Fifo<QueuedMessage>()
    /// With strict order: suspects in the queues of their sources. They stay in hand until they are called: in the
    /// store they would wait behind later messages.
    var heldSuspects: Set<Int64> = []
    var alone = AloneRun.none
    var uncommitted: [Int64: UncommittedAnswer] = [:]
    /// Reactions of users to notifications whose messages are in calls.
    var reactions: [Int64: Reaction] = [:]
    /// Messages that a late answer has ended while a call or a claim had them.
    var finished: Set<Int64> = []

    // Rows to read.
    var intakes: [Int64: Intake] = [:]
    var lastAttachment = 0
    var wants = Fifo<Want>()
    /// When to look for retries in the store, and to repeat failed claims.
    var looks = Agenda<Int64>()
    /// Installations whose list of sources continues when there is room for more.
    var stalled: Set<Int64> = []
    /// When memory filled up while rows were still to be read.
    var crowdedSince: MonotonicInstant?
    /// Whether sources shrink to their share once the calls have given back the messages that they have not started.
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
        // Looking at each source pays only if there are few.
        self.places.count > 64 || self.backlogged > 0 || self.places.values.contains { !self.sources[$0].queue.isEmpty }
    }

    /// The most calls that may run at once, including stuck calls.
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

    /// Adds `attempts` and `crashes` to the numbers of the message.
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

/// The scheduler's decisions, for the pipeline to carry out.
package struct SchedulerOutput: Sendable {
    /// The store writes these, in this order, before it reads the claimed rows.
    package var changes: [MessageChange] = []
    package var claims: [StoreClaim] = []
    /// Calls to stop after their current message. The pipeline answers with ``Scheduler/cut(_:position:startedAt:)``.
    package var cuts: [CallID] = []
    package var calls: [DeliveryCall] = []
    /// Number of calls that held places after their workers had left, and hold none now.
    package var freedPlaces = 0
    /// Messages that a late answer has ended, wherever they were.
    package var ended: [Int64] = []
    package var notes: [DeliveryNote] = []
    /// The reasons why fewer calls run than may, in order; `nil`: no reason is left.
    package var stalls: [DeliveryStall?] = []
}

/// The user's reaction to a notification whose message is in a call. It applies when the attempt is over.
enum Reaction: Sendable {
    case opened(DeliveryOpening)
    case dismissed
    case withdrawn
}

/// A time without new handlers: the machine lacks memory, descriptors or processes, or the handler asked for a pause.
struct HandlerShortage: Sendable {
    /// The most calls at once: the number that ran when another handler could not be started; 0 in a pause that the
    /// handler asked for.
    var places = Int.max
    /// When `places` is lifted and, a pause later, the shortage ends unless a start fails again.
    var over: MonotonicInstant
    /// The stall that observers know.
    var stall: DeliveryStall?
}

/// The message that runs alone because it may have ended an earlier process.
enum AloneRun: Sendable {
    /// Nothing runs alone. Exits: `committing`, when a suspect waits and no call is under way.
    case none
    /// The store is recording the attempt. Exits: `running`, when it is durable.
    case committing(QueuedMessage)
    /// The message runs in this call. Exits: `none`, when the call is over.
    case running(Int)
}
