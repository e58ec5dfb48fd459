/// Receives handlers' answers on any thread, for the event loop's thread. One lock covers attempts and posts, so the
/// `Bool` that a ``FetchCompletion`` returns is final.
package final class AnswerBox: AnswerChannel {
    enum Post: Sendable {
        /// Posted only for the first message of a call.
        case started(CallID, at: MonotonicInstant)
        case answered(CallID, position: Int, HandlerVerdict, startedAt: MonotonicInstant, at: MonotonicInstant)
        case skipped(CallID, position: Int)
        indirect case late(Late, sequence: Int64, HandlerVerdict, counts: Bool, at: MonotonicInstant)
        case ended(CallID, position: Int, startedAt: MonotonicInstant, isUnanswered: Bool)
        case left(CallID, position: Int, startedAt: MonotonicInstant)
    }

    /// An attempt whose deadline has passed. Its completion may still answer.
    struct Late: Sendable {
        let call: CallID
        let source: SourceID
        let attempt: Int
        /// Whether a late success counts: at most until the next attempt starts.
        var isOpen = true
    }

    enum Progress: Sendable {
        case waiting
        case running(position: Int, startedAt: MonotonicInstant)
        case answered
    }

    fileprivate enum Attempt: Sendable {
        case open, over
        case answered(isSuccess: Bool)
    }

    fileprivate struct Slot: Sendable {
        var number = 0
        var position = -1
        var attempt = Attempt.over
        var startedAt = MonotonicInstant(nanoseconds: 0)
        var isCut = false
        var isPresenting = false
        var isHeld = true
        var task: Task<Void, Never>?
        var isTaskOver = false
    }

    fileprivate struct State: Sendable {
        var slots: [Slot] = []
        var late: [Int64: [Late]] = [:]
        /// Messages with a late success that the loop's thread has not seen yet. No attempt for them may start.
        var ended: Set<Int64> = []
        var posts: [Post] = []
        var isLoopAsleep = false
        var isStopped = false
    }

    fileprivate let state = Locked(State())
    private let clock: @Sendable () -> MonotonicInstant
    private let wake: @Sendable () -> Void
    private let commitsWork: Bool

    /// - Parameter wake: wakes the loop's thread. Called on any thread.
    init(
        commitsWork: Bool = false, clock: @escaping @Sendable () -> MonotonicInstant,
        wake: @escaping @Sendable () -> Void
    ) {
        self.commitsWork = commitsWork
        self.clock = clock
        self.wake = wake
    }

    var now: MonotonicInstant { self.clock() }

    // MARK: - The handler's side

    package func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        let now = self.clock()
        if case .committing = verdict, !self.commitsWork {
            return self.answer(ticket, .threw("messages are kept where no statements can be committed with an answer"))
        }
        return self.change { state in
            guard !state.isStopped else { return (false, false) }
            let slot = ticket.call.slot
            if state.slots.indices.contains(slot), state.slots[slot].number == ticket.call.number,
                state.slots[slot].position == ticket.position
            {
                switch state.slots[slot].attempt {
                case .open:
                    state.slots[slot].attempt = .answered(isSuccess: verdict.isSuccess)
                    let startedAt = state.slots[slot].startedAt
                    let wakes = state.post(
                        .answered(ticket.call, position: ticket.position, verdict, startedAt: startedAt, at: now))
                    return (verdict != .unanswered, wakes)
                case .answered: return (false, false)
                case .over: break
                }
            }
            return state.answeredLate(ticket, verdict, at: now)
        }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> (Result, Bool)) -> Result {
        let (result, wakes) = self.state.withLock { body(&$0) }
        if wakes { self.wake() }
        return result
    }

    // MARK: - The worker's side

    enum Step: Sendable {
        case call(position: Int, startedAt: MonotonicInstant)
        /// `isPlaceKept`: an answer may still come, and the call counts as running until then.
        case done(isPlaceKept: Bool)
    }

    func begin(_ call: DeliveryCall) -> Step {
        let now = self.clock()
        return self.change { state in
            let step = state.begin(call, from: 0, at: now)
            if case .call(1..., _) = step { return (step, false) }
            return (step, state.takeSleep())
        }
    }

    /// If `isYielding`, the worker begins no further message of the call.
    func returned(_ call: DeliveryCall, isYielding: Bool, at now: MonotonicInstant) -> Step {
        self.change { state in
            let slot = state.slots[call.id.slot]
            if case .answered(isSuccess: true) = slot.attempt, !slot.isCut, !isYielding,
                slot.position + 1 < call.messages.count
            {
                return (state.begin(call, from: slot.position + 1, at: now), state.takeSleep())
            }
            return (state.end(call.id), state.takeSleep())
        }
    }

    /// Returns `nil` if the attempt ended during `show`.
    func present(_ id: CallID, _ show: () -> Bool) -> Bool? {
        self.state.withLock { $0.slots[id.slot].isPresenting = true }
        let isShown = show()
        return self.state.withLock { state in
            state.slots[id.slot].isPresenting = false
            guard case .open = state.slots[id.slot].attempt else { return nil }
            return isShown
        }
    }

    /// Frees the worker while `task` continues the call. Returns false if the task has ended already.
    func leave(_ id: CallID, to task: Task<Void, Never>) -> Bool {
        let (isLeft, isTooLate, wakes) = self.state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.slots[id.slot].isTaskOver else { return (false, false, false) }
            state.slots[id.slot].isHeld = false
            state.slots[id.slot].isCut = true
            state.slots[id.slot].task = task
            let slot = state.slots[id.slot]
            let wakes = state.post(.left(id, position: slot.position, startedAt: slot.startedAt))
            if case .over = state.slots[id.slot].attempt { return (true, true, wakes) }
            return (true, state.isStopped, wakes)
        }
        if isTooLate { task.cancel() }
        if wakes { self.wake() }
        return isLeft
    }

    /// Returns whether the caller must free the call's place in the ``CallQueue``.
    func taskEnded(_ id: CallID) -> Bool {
        self.change { state in
            guard state.slots[id.slot].number == id.number else { return (true, false) }
            state.slots[id.slot].isTaskOver = true
            guard !state.slots[id.slot].isHeld else { return (false, false) }
            state.slots[id.slot].task = nil
            _ = state.end(id)
            return (true, state.takeSleep())
        }
    }
}

// MARK: - The loop's side

extension AnswerBox {
    /// Moves the posts into `posts`, which must be empty. From now on, late answers to the message `sequence` do not
    /// count.
    func take(into posts: inout [Post], closing sequence: Int64? = nil) {
        self.state.withLock { state in
            swap(&state.posts, &posts)
            state.isLoopAsleep = false
            if let sequence { state.close(sequence) }
        }
    }

    /// Returns whether the loop's thread may sleep. If `isAwaited`, the next post wakes the thread.
    func prepareToSleep(isAwaited: Bool) -> Bool {
        self.state.withLock { state in
            state.isLoopAsleep = isAwaited && state.posts.isEmpty
            return !isAwaited || state.isLoopAsleep
        }
    }

    func open(_ calls: [DeliveryCall]) {
        self.state.withLock { state in
            for call in calls {
                while state.slots.count <= call.id.slot { state.slots.append(Slot()) }
                state.slots[call.id.slot] = Slot(number: call.id.number)
            }
        }
    }

    // `cut` and `progress` also return the posts. The loop's thread applies these before it uses a position.

    /// `position` is -1 before the first message.
    func cut(_ id: CallID) -> (position: Int, startedAt: MonotonicInstant, posts: [Post]) {
        self.state.withLock { state in
            let posts = state.takePosts()
            if state.slots[id.slot].number == id.number { state.slots[id.slot].isCut = true }
            return (state.slots[id.slot].position, state.slots[id.slot].startedAt, posts)
        }
    }

    func progress(of id: CallID) -> (progress: Progress, posts: [Post]) {
        self.state.withLock { state in
            let (slot, posts) = (state.slots[id.slot], state.takePosts())
            guard slot.number == id.number, slot.position >= 0 else { return (.waiting, posts) }
            guard case .open = slot.attempt else { return (.answered, posts) }
            return (.running(position: slot.position, startedAt: slot.startedAt), posts)
        }
    }

    /// Ends the attempt and the call, unless the handler has answered. `mayEndLate`: whether a late success counts.
    ///
    /// - Returns: `nil` if the handler has answered; else whether a presenter was still showing the message.
    func expire(_ id: CallID, position: Int, _ message: QueuedMessage, mayEndLate: Bool) -> Bool? {
        let (isPresenting, task) = self.state.withLock { state -> (Bool?, Task<Void, Never>?) in
            let slot = state.slots[id.slot]
            guard slot.number == id.number, slot.position == position, case .open = slot.attempt else {
                return (nil, nil)
            }
            state.slots[id.slot].attempt = .over
            state.slots[id.slot].isCut = true
            guard !slot.isPresenting else { return (true, nil) }
            state.late[message.sequence, default: []].append(
                Late(call: id, source: message.source, attempt: message.attempts + 1, isOpen: mayEndLate))
            return (false, slot.task)
        }
        task?.cancel()
        return isPresenting
    }

    func forgetEnded(_ sequences: [Int64]) { self.state.withLock { $0.ended.subtract(sequences) } }

    /// Returns the running tasks, for the caller to cancel. From now on, no answer counts and no message begins.
    func stop() -> [Task<Void, Never>] {
        self.state.withLock { state in
            state.isStopped = true
            return state.slots.compactMap(\.task)
        }
    }
}

extension AnswerBox.State {
    fileprivate mutating func post(_ post: AnswerBox.Post) -> Bool {
        self.posts.append(post)
        return self.takeSleep()
    }

    fileprivate mutating func takePosts() -> [AnswerBox.Post] {
        var posts: [AnswerBox.Post] = []
        swap(&posts, &self.posts)
        return posts
    }

    /// Returns true if the caller must wake the loop's thread.
    fileprivate mutating func takeSleep() -> Bool {
        guard self.isLoopAsleep, !self.posts.isEmpty else { return false }
        self.isLoopAsleep = false
        return true
    }

    fileprivate mutating func begin(_ call: DeliveryCall, from first: Int, at now: MonotonicInstant) -> AnswerBox.Step {
        for position in first..<call.messages.count {
            guard !self.slots[call.id.slot].isCut, !self.isStopped else { break }
            self.slots[call.id.slot].position = position
            self.slots[call.id.slot].startedAt = now
            let sequence = call.messages[position].sequence
            if !self.ended.isEmpty, self.ended.contains(sequence) {
                self.slots[call.id.slot].attempt = .answered(isSuccess: true)
                self.posts.append(.skipped(call.id, position: position))
                continue
            }
            if !self.late.isEmpty { self.close(sequence) }
            self.slots[call.id.slot].attempt = .open
            if position == 0 { self.posts.append(.started(call.id, at: now)) }
            return .call(position: position, startedAt: now)
        }
        return self.end(call.id)
    }

    fileprivate mutating func end(_ id: CallID) -> AnswerBox.Step {
        self.slots[id.slot].isHeld = false
        self.slots[id.slot].isCut = true
        let isUnanswered = if case .open = self.slots[id.slot].attempt { true } else { false }
        let slot = self.slots[id.slot]
        self.posts.append(
            .ended(id, position: slot.position, startedAt: slot.startedAt, isUnanswered: isUnanswered))
        return .done(isPlaceKept: isUnanswered)
    }

    fileprivate mutating func close(_ sequence: Int64) {
        guard let attempts = self.late[sequence] else { return }
        for index in attempts.indices { self.late[sequence]?[index].isOpen = false }
    }

    fileprivate mutating func answeredLate(
        _ ticket: AnswerTicket, _ verdict: HandlerVerdict, at now: MonotonicInstant
    ) -> (counts: Bool, wakes: Bool) {
        // Without an entry, the attempt already has an answer, or its handler was not called.
        guard let index = self.late[ticket.sequence]?.firstIndex(where: { $0.call == ticket.call }),
            let late = self.late[ticket.sequence]?[index]
        else { return (false, false) }
        let counts = late.isOpen && verdict.isSuccess
        switch verdict {
        case .result, .committing, .rejected: break
        case .unanswered, .threw, .presented, .unreached, .unstarted, .setAside:
            self.forgetLate(ticket.sequence, index)
            return (false, false)
        }
        if counts {
            self.forgetLate(ticket.sequence, index)
            self.close(ticket.sequence)
            self.ended.insert(ticket.sequence)
        }
        return (counts, self.post(.late(late, sequence: ticket.sequence, verdict, counts: counts, at: now)))
    }

    private mutating func forgetLate(_ sequence: Int64, _ index: Int) {
        self.late[sequence]?.remove(at: index)
        if self.late[sequence]?.isEmpty == true { self.late[sequence] = nil }
    }
}
