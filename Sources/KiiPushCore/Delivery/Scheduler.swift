/// Decides when a handler gets each message, and what its answer means. Pure: no clock, no thread, no store. Events are
/// method calls with the time as an argument. ``output`` collects the decisions.
///
/// The states of a message, and the usual next states:
///
/// - *waiting*: a row in the store. Next: *queued*.
/// - *queued*: in memory, in the queue of its source. Next: *called*; *waiting*, if its agent stops, its source uses
///   too much of a full memory, or an earlier message failed and the order is strict.
/// - *suspect*: an earlier process ended while it had the message, perhaps because of the message. Next: *called*,
///   alone, after a commit of the attempt.
/// - *called*: a ``DeliveryCall`` has it. Next: done, dead, presented, set aside, *retry*; *queued* or *waiting*, if
///   the call ends before its handler was called.
/// - *retry*: a row with a due time. Next: *queued*; done, after a late success, which also ends a dead letter.
package struct Scheduler: Sendable {
    package let configuration: DeliveryConfiguration
    package let scale: DeliveryScale
    package internal(set) var output = SchedulerOutput()
    package internal(set) var isDraining = false
    package var isObserved = true
    /// The store could keep no answers, so the scheduler claims nothing and starts no call.
    package var isStoreFailing = false { didSet { if self.isStoreFailing, !oldValue { self.cutCalls() } } }

    var sources: [Source] = []
    var freePlaces: [Int] = []
    var places: [SourceID: Int] = [:]
    var latest: (id: SourceID, place: Int)?
    /// Sources whose next call may start, in this order.
    var ready = Fifo<Int>()
    var backlogged = 0
    /// Includes the limits of claims that the store has not answered.
    package internal(set) var memoryWeight = 0

    // Calls, by the slot that they share with the ``AnswerBox``.
    var calls: [CallRecord?] = []
    var freeSlots: [Int] = []
    var lastCall = 0
    /// The most messages of a call. Long calls cost less per message; short calls let sources take turns while handlers
    /// are slow.
    var batch = 1
    var handedOut = 0
    var callsDue: MonotonicInstant?
    package internal(set) var stuckCount = 0
    /// Whether a call that became stuck keeps its place: the number of calls that gave theirs up was at its limit.
    var losesPlaces = false
    var shortage: HandlerShortage?
    var suspects = Fifo<QueuedMessage>()
    /// With strict order: messages of an ended process in the queues of their sources. They stay `inHand`, since as
    /// waiting rows they would follow later messages.
    var heldSuspects: Set<Int64> = []
    var alone = AloneRun.none
    var uncommitted: [Int64: UncommittedAnswer] = [:]
    var reactions: [Int64: Reaction] = [:]
    /// Messages that a late success has ended while a call or a read of the store had them.
    var finished: Set<Int64> = []

    var intakes: [Int64: Intake] = [:]
    var lastAttachment = 0
    var queuedClaims = Fifo<ClaimTarget>()
    var retryChecks = Agenda()
    var stalled: Set<Int64> = []
    var congestedSince: MonotonicInstant?
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

    package var hasQueues: Bool {
        // With many sources, a check of each would cost too much, so the answer is true.
        self.places.count > 64 || self.backlogged > 0 || self.places.values.contains { !self.sources[$0].queue.isEmpty }
    }

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

package struct SchedulerOutput: Sendable {
    /// The store writes the changes in this order, before it reads rows.
    package var changes: [MessageChange] = []
    package var claims: [StoreClaim] = []
    /// Calls to end after their current message, or at once if they have not begun.
    package var cuts: [CallID] = []
    package var calls: [DeliveryCall] = []
    /// Places that the pipeline must free in the ``CallQueue``: their calls have ended, and no worker frees them.
    package var freedPlaces = 0
    package var ended: [Int64] = []
    package var notes: [DeliveryNote] = []
    /// Changes, oldest first, of the reason why fewer calls run than are allowed; `nil`: no reason is left.
    package var stalls: [String?] = []
}

package struct DeliveryNote: Sendable {
    package var sequence: Int64
    package var installation: Int64
    package var kind: MessageEvent.Kind
    var message: QueuedMessage?
}

/// A time with fewer handlers, since the machine lacks resources or a handler asked for a pause.
struct HandlerShortage: Sendable {
    /// The most calls at once: the number that ran when a handler could not be started, or 0 in a pause.
    var places = Int.max
    /// When `places` stops limiting calls; after that, when the shortage ends.
    var over: MonotonicInstant
    /// The reason, if observers have got it.
    var stall: String?
}

/// The message that runs alone, because it may have ended an earlier process.
enum AloneRun: Sendable {
    case none
    /// The store is writing the attempt.
    case committing(QueuedMessage)
    /// The slot of the message's call.
    case running(Int)
}
