extension Scheduler {
    /// When to call ``timePassed(at:)`` if nothing happens. The time may be too early.
    package var nextDeadline: MonotonicInstant? {
        .earlier(.earlier(self.callsDue, self.retryChecks.nextDue), .earlier(self.rebalanceDue, self.shortage?.over))
    }

    package mutating func timePassed(at now: MonotonicInstant) {
        self.now = max(self.now, now)
        self.checkDueRetries()
        self.rebalanceMemory()
        self.checkShortage()
    }

    /// Searches for due retries: the pauses before retries went on while the machine slept. Deadlines stood still.
    package mutating func machineSlept(at now: MonotonicInstant) {
        for installation in self.intakes.keys { self.look(installation, at: now) }
        if let shortage, shortage.places < .max { self.shortage?.over = min(shortage.over, now) }
    }

    /// Calls that may be overdue. The caller then checks the progress of each.
    package mutating func overdueCalls(at now: MonotonicInstant) -> [CallID] {
        guard let due = self.callsDue, due <= now else { return [] }
        self.now = max(self.now, now)
        self.callsDue = nil
        var overdue: [CallID] = []
        for case let call? in self.calls {
            guard let due = self.due(call) else { continue }
            if due <= now { overdue.append(call.id) } else { self.awaitDeadline(of: call) }
        }
        return overdue
    }

    package func isStuck(_ id: CallID) -> Bool { self.record(id).flatMap(self.stuckAt).map { $0 <= self.now } ?? false }

    package func isOverdue(_ id: CallID) -> Bool { self.record(id).flatMap(self.due).map { $0 <= self.now } ?? false }

    func message(of id: CallID, at position: Int) -> QueuedMessage? {
        self.record(id).flatMap { $0.messages.indices.contains(position) ? $0.messages[position] : nil }
    }

    package mutating func awaitDeadline(of id: CallID) {
        if let call = self.record(id) { self.awaitDeadline(of: call) }
    }

    mutating func awaitDeadline(of call: CallRecord) {
        guard let due = self.due(call), due < self.callsDue ?? .init(nanoseconds: .max) else { return }
        self.callsDue = due
    }

    /// The attempt's deadline or, after it, the time at which a call that has not returned counts as stuck.
    private func due(_ call: CallRecord) -> MonotonicInstant? {
        guard !call.isStuck else { return nil }
        guard let message = call.current else {
            return call.startedAt + self.configuration.deadline
        }
        let deadline = self.configuration.deadline(of: message, startedAt: call.startedAt)
        guard call.isOver else { return deadline }
        // The worker may be at a later message, whose time began with the previous answer or later.
        let next = call.mayHaveBegunNext ? call.answeredAt.map { $0 + self.configuration.deadline } : nil
        return .earlier(next, self.stuckAt(call))
    }

    /// From the deadline until another thread takes the place of a call that has not returned.
    private static var stuckAfter: Duration { .seconds(300) }

    private func stuckAt(_ call: CallRecord) -> MonotonicInstant? {
        guard call.isOver, !call.isStuck, !call.keepsPlace, let message = call.current else { return nil }
        // An attempt may start after the message's own time limit, so the deadline may be before the start.
        let deadline = self.configuration.deadline(of: message, startedAt: call.startedAt)
        return max(deadline, call.startedAt) + Self.stuckAfter
    }

    /// Sets a new deadline for an overdue call that has not begun, or has the answer to its current message.
    package mutating func restartDeadline(_ id: CallID, at now: MonotonicInstant) {
        guard let call = self.record(id) else { return }
        if call.position < 0 { self.calls[id.slot]?.startedAt = now }
        if call.mayHaveBegunNext { self.calls[id.slot]?.answeredAt = now }
        self.awaitDeadline(of: id)
    }

    /// Ends an attempt without an answer, and its call. If `isPresenting`, the presenter's function has not returned,
    /// and no handler was called. Then the attempt does not count, and another thread takes the message.
    package mutating func timedOut(_ id: CallID, position: Int, isPresenting: Bool, at now: MonotonicInstant) {
        guard let call = self.record(id), let message = call.current, position == call.position else { return }
        self.takeBack(id.slot)
        if call.isAlone { self.alone = .none }
        self.calls[id.slot]?.isOver = true
        guard !isPresenting else {
            if call.isAlone { self.change(message, .inHand) }
            self.requeue(message, at: call.place)
            return self.giveUpPlace(id.slot)
        }
        self.unweigh(message.bytes, at: call.place)
        self.fail(id.slot, message, .timedOut, startedAt: call.startedAt, now: now)
        if !self.reactions.isEmpty { self.react(to: message.sequence, message.installation) }
        if call.hasReturned { self.free(id.slot) } else { self.awaitDeadline(of: id) }
    }

    package mutating func stuck(_ id: CallID) { if self.record(id)?.isOver == true { self.giveUpPlace(id.slot) } }

    /// The time since the earliest deadline of a call that has not returned, even if its attempt is over.
    package func overdue(at now: MonotonicInstant) -> Duration {
        self.calls.reduce(.zero) { longest, call in
            guard let call, !call.isStuck, let message = call.current else { return longest }
            return max(longest, now - self.configuration.deadline(of: message, startedAt: call.startedAt))
        }
    }

    private var mayGiveUpThreads: Bool { self.stuckCount < self.configuration.maximumStuckCalls }

    static func stuckCalls(_ count: Int) -> String {
        "\(count) calls of handlers have not returned long after their deadlines, and no more threads are given up "
            + "to such calls; have the handlers return, or restart the program"
    }

    private mutating func giveUpPlace(_ slot: Int) {
        guard let call = self.calls[slot], let message = call.current else { return }
        guard self.mayGiveUpThreads else {
            self.calls[slot]?.keepsPlace = true
            guard !self.losesPlaces else { return }
            self.losesPlaces = true
            self.output.stalls.append(Self.stuckCalls(self.configuration.maximumStuckCalls))
            return
        }
        self.note(.stuck(attempt: message.attempts + 1), message)
        self.calls[slot]?.isStuck = true
        self.stuckCount += 1
        self.release(slot, at: call.place)
    }

    mutating func regainPlaces() {
        guard self.mayGiveUpThreads || !self.calls.contains(where: { $0?.keepsPlace == true }) else { return }
        self.losesPlaces = false
        self.endStall()
        for slot in self.calls.indices where self.calls[slot]?.keepsPlace == true {
            self.calls[slot]?.keepsPlace = false
            if let call = self.calls[slot] { self.awaitDeadline(of: call) }
        }
    }
}
