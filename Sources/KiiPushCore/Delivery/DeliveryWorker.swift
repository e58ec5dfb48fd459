/// One worker of delivery, step by step: takes a job, calls the handler, and goes on when the call has returned.
///
/// Each of delivery's threads is one. Where delivery has no threads (``DeliveryThreads/none(onWork:)``), whoever made the
/// ``DeliveryRunner`` takes the steps. One thread at a time.
package final class DeliveryWorker {
    /// The messages of one source that this worker has taken. Used in place: a copy would cost each message several counts of
    /// references.
    private struct Claimed {
        let claim: DeliveryClaim<DecodedMessage>
        let attachment: DeliveryAttachment?
        let claimedAt: MonotonicInstant
        var serial: Int
        var deadline: MonotonicInstant
        var index = 0

        var isLast: Bool { self.index == self.claim.messages.count - 1 }

        /// Calls the handler of the present message.
        func call(_ gate: CallGate) -> Task<Void, Never>? {
            let call = HandlerCall(
                message: self.claim.messages[self.index],
                attempt: self.claim.attempts[self.index],
                deadline: self.deadline,
                serial: self.serial,
                call: self.claim.call
            )
            return call.invoke(self.attachment, gate)
        }

        mutating func advance(at now: MonotonicInstant, _ limit: Duration) {
            self.index += 1
            self.serial += 1
            let whole = now + limit
            self.deadline = self.claim.messages[self.index].answerBy.map { min(whole, $0) } ?? whole
        }
    }

    /// What became of a call.
    package enum CallOutcome {
        /// The handler has returned; ``DeliveryWorker/callReturned()`` follows.
        case returned
        /// An asynchronous handler's task goes on without this worker, which is free.
        case left
    }

    private let core: DeliveryCore
    private let gate: CallGate
    private var claimed: Claimed?

    init(_ core: DeliveryCore) {
        self.core = core
        self.gate = CallGate(core)
    }

    /// A worker for a runner that has no threads.
    package convenience init(_ runner: DeliveryRunner) { self.init(runner.core) }

    /// Whether a message is to be handed to its handler.
    package var hasCall: Bool { self.claimed != nil }

    /// Takes the next job, and does what of it is no call.
    ///
    /// - Returns: whether there was one.
    package func takeJob() -> Bool {
        let job = self.core.monitor.withLock { state in state.isStopped ? nil : self.takeJob(of: &state) }
        guard let job else { return false }
        self.begin(job)
        return true
    }

    /// Hands the present message to its handler, on this thread. The attempt began when the message was taken, or with the
    /// answer to the one before.
    package func call() -> CallOutcome {
        guard let task = self.claimed?.call(self.gate),
            let (number, serial) = self.claimed.map({ ($0.claim.call, $0.serial) }),
            !self.gate.hasEnded(serial), self.core.leave(number, self.gate, serial, to: task)
        else { return .returned }
        self.claimed = nil
        return .left
    }

    /// The call has returned: the next message of the claim is the present one, or the worker is free.
    package func callReturned() {
        guard let (claimedAt, isLast) = self.claimed.map({ ($0.claimedAt, $0.isLast) }) else { return }
        switch self.gate.next(claimedAt: claimedAt, isLast: isLast, at: self.core.clock()) {
        case .start(let now): self.claimed?.advance(at: now, self.core.configuration.deadline)
        case .stop:
            guard let number = self.claimed?.claim.call else { return }
            self.claimed = nil
            self.core.returned(number, self.gate)
        }
    }

    // MARK: - For delivery's threads

    /// Takes the next job, under the core's lock.
    func takeJob(of state: inout DeliveryState) -> DeliveryState.Job? {
        guard let job = state.nextJob(at: self.core.clock()) else { return nil }
        if case .handle(let claim, _, at: let now) = job {
            self.gate.begin(claim.call, messages: claim.messages.count, at: now)
            state.gates[claim.call] = self.gate
            state.collections[claim.call] = now + DeliveryState.collectionDelay
        }
        return job
    }

    /// Does a job that was taken, or has it done by ``call()``.
    func begin(_ job: DeliveryState.Job) {
        // What a claim started may include a deadline, and there may be more work than this worker takes.
        self.core.flush()
        self.core.staff()
        switch job {
        case .decode(let inbound, let attachments): self.core.decode(inbound, attachments)
        case .handle(let claim, let attachment, at: let now):
            self.claimed = Claimed(
                claim: claim, attachment: attachment, claimedAt: now, serial: self.gate.serial,
                deadline: claim.deadline)
        }
    }
}
