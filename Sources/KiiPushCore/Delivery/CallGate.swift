/// Takes the answers to the messages that one thread works on, so that the common answer, given during the call,
/// needs no other lock than this thread's own.
///
/// Messages are numbered by `serial`, on and on. Answers to a message of the present claim are kept here until they
/// are reported; whatever comes for an earlier one goes to the core, which decides.
final class CallGate: AnswerChannel {
    private struct State: Sendable {
        /// The number of the present claim.
        var call = 0
        /// The first serial that is answered here. Below it the core decides.
        var base = 0
        /// The serial of the claim's first message.
        var first = 0
        /// The serial whose call is running.
        var position = 0
        var startedAt = MonotonicInstant(nanoseconds: 0)
        /// Answers that were not reported yet.
        var answers: [DeliveryProgress.Answer] = []
        var isAnswered = false
        /// Answers were handed over amid the claim. Those that come now are told to the core at once, and no other message
        /// of the claim starts: the core would not look for its end.
        var isCollected = false
        /// Nobody is called yet: the message is being shown to the user.
        var isPresenting = false
        /// The last answer was a success, so the next message may be started.
        var isSuccess = false
        /// The asynchronous call that ended before the thread left it.
        var ended = 0

        var isCut: Bool { self.base > self.position }

        mutating func takeProgress() -> DeliveryProgress {
            var answers: [DeliveryProgress.Answer] = []
            swap(&answers, &self.answers)
            return DeliveryProgress(
                answers: answers, position: self.position - self.first, startedAt: self.startedAt,
                isPresenting: self.isPresenting)
        }
    }

    /// What a thread does after a handler has returned.
    enum Next: Sendable {
        /// The next message of the claim starts, at this time.
        case start(MonotonicInstant)
        /// The thread's part in the claim is over; what it did is to be reported.
        case stop
    }

    private enum Reception: Sendable {
        case counted
        /// It counted, and the call has been going on for so long that others should know now.
        case countedInSlowCall(Int)
        case second
        case forCore
    }

    /// How long the messages of a claim may take together, before those that are left go back to the queue.
    private static let slice: Duration = .milliseconds(1)

    private let state = Locked(State())
    private let core: DeliveryCore

    init(_ core: DeliveryCore) { self.core = core }

    // MARK: - The thread's side

    /// The serial of the message that is running.
    var serial: Int { self.state.withLock { $0.position } }

    /// The running message's handler has returned, now. It may have answered long before.
    func next(claimedAt: MonotonicInstant, isLast: Bool, at now: MonotonicInstant) -> Next {
        self.state.withLock { state in
            let goesOn = state.isAnswered && state.isSuccess && !isLast && !state.isCut && !state.isCollected
            guard goesOn, now - claimedAt < CallGate.slice else { return .stop }
            state.position += 1
            state.startedAt = now
            state.isAnswered = false
            return .start(now)
        }
    }

    /// Has the running message shown to the user.
    ///
    /// - Returns: what `show` returns; `nil` if that took so long that the message is in other hands by now.
    func present(_ serial: Int, _ show: () -> Bool) -> Bool? {
        self.state.withLock { $0.isPresenting = true }
        let isShown = show()
        return self.state.withLock { state in
            state.isPresenting = false
            return serial < state.base ? nil : isShown
        }
    }

    /// Whether an asynchronous call is over although its thread has not left it.
    func hasEnded(_ serial: Int) -> Bool { self.state.withLock { $0.ended == serial } }

    /// An asynchronous call is over, and has been answered.
    func asyncCallEnded(_ serial: Int, _ call: Int) {
        let isThreadThere = self.state.withLock { state in
            guard serial >= state.base else { return false }
            state.ended = serial
            return true
        }
        if !isThreadThere { self.core.asyncCallEnded(call) }
    }

    // MARK: - The core's side, under the core's lock
    //
    // What moves `base` is called with the core's lock held, and what is taken is reported before that lock is given
    // up. So an answer that finds itself below `base` finds the core up to date.

    /// The first of a claim's messages starts.
    func begin(_ call: Int, messages: Int, at now: MonotonicInstant) {
        self.state.withLock { state in
            state.position += 1
            state.base = state.position
            state.first = state.position
            state.call = call
            state.startedAt = now
            state.isAnswered = false
            state.isCollected = false
            state.answers.reserveCapacity(messages)
        }
    }

    /// The thread's part in its claim is over: the core decides about every answer from now on.
    func finish() -> (progress: DeliveryProgress, isUnanswered: Bool) {
        self.state.withLock { state in
            let isUnanswered = !state.isAnswered && !state.isCut
            state.base = state.position + 1
            return (state.takeProgress(), isUnanswered)
        }
    }

    /// An asynchronous call goes on without the thread; `nil` if it is over already.
    func leave(_ serial: Int) -> DeliveryProgress? {
        self.state.withLock { state in
            guard state.ended != serial else { return nil }
            state.base = serial + 1
            return state.takeProgress()
        }
    }

    /// Hands over how far `call` has come, if its thread is still at it; if the core says so, it is cut off: the core
    /// decides about every answer from now on, and the claim ends with the running message.
    func examine(_ call: Int, cutsOff: (DeliveryProgress) -> Bool) {
        self.state.withLock { state in
            guard state.call == call, !state.isCut else { return }
            state.isCollected = true
            if cutsOff(state.takeProgress()) { state.base = state.position + 1 }
        }
    }

    // MARK: - The handler's side

    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        let now = self.core.clock()
        let reception: Reception = self.state.withLock { state in
            guard ticket.serial >= state.base else { return .forCore }
            guard ticket.serial == state.position, !state.isAnswered else { return .second }
            state.answers.append(.init(index: state.position - state.first, verdict: verdict))
            state.isAnswered = true
            state.isSuccess = verdict.isSuccess
            let isEarly = now - state.startedAt < CallGate.slice && !state.isCollected
            return isEarly ? .counted : .countedInSlowCall(state.call)
        }
        switch reception {
        case .counted: return verdict != .unanswered
        case .countedInSlowCall(let call):
            self.core.report(call, self)
            return verdict != .unanswered
        case .second: return false
        case .forCore: return self.core.answered(ticket, verdict)
        }
    }
}
