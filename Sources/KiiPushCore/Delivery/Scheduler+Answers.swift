extension Scheduler {
    package mutating func answered(
        _ id: CallID, position: Int, _ verdict: HandlerVerdict, startedAt: MonotonicInstant, at now: MonotonicInstant
    ) {
        guard self.calls.indices.contains(id.slot),
            let (message, place, isNew, hasReturned) = self.calls[id.slot]?.answered(
                id, position: position, startedAt: startedAt, at: now) ?? nil
        else { return }
        if isNew { self.begun(message) }
        self.conclude(id.slot, message, verdict, at: place, startedAt: startedAt, now: now)
        if hasReturned { self.free(id.slot) }
    }

    /// Called after the deadline. The answer `counts` if it is a success before the next attempt.
    package mutating func answeredLate(
        _ sequence: Int64, _ source: SourceID, attempt: Int, _ verdict: HandlerVerdict, counts: Bool,
        at now: MonotonicInstant
    ) {
        guard counts, case .result(let result) = verdict else {
            return self.note(.late(attempt: attempt), sequence, source.installation)
        }
        self.note(.done(result, attempt: attempt, isLate: true), sequence, source.installation)
        self.withdraw(sequence, in: source)
        self.change(
            sequence, source.installation, .done(result), attempts: attempt,
            attempt: .init(number: attempt, endedAt: now))
        self.react(to: sequence, source.installation)
    }

    mutating func withdraw(_ sequence: Int64, in source: SourceID) {
        self.output.ended.append(sequence)
        self.finished.insert(sequence)
        guard let place = self.place(of: source) else { return }
        _ = self.takeOut(sequence, at: [place])
        self.unblock(sequence, at: place)
        // If a call contains the message, cutting the call returns the message to the scheduler.
        if let call = self.call(with: sequence) { self.output.cuts.append(call.id) }
        self.tidy(place)
    }

    package mutating func skipped(_ id: CallID, position: Int) {
        guard let call = self.record(id), position < call.messages.count,
            position > call.position || (position == call.position && !call.isOver)
        else { return }
        self.calls[id.slot]?.position = position
        self.calls[id.slot]?.isOver = true
        self.finished.remove(call.messages[position].sequence)
        self.unweigh(call.messages[position].bytes, at: call.place)
    }

    private mutating func conclude(
        _ slot: Int, _ message: QueuedMessage, _ verdict: HandlerVerdict, at place: Int, startedAt: MonotonicInstant,
        now: MonotonicInstant
    ) {
        let number = message.attempts + 1
        let attempt = MessageChange.Attempt(number: number, startedAt: startedAt, endedAt: now)
        self.unweigh(message.bytes, at: place)
        switch verdict {
        case .result(.failed): self.fail(slot, message, .failed, startedAt: startedAt, now: now)
        case .committing(let result, let work):
            self.commit(slot, message, result, work, startedAt: startedAt, now: now)
        case .threw(let error, let retryAfter):
            self.fail(slot, message, .threw(error), retryAfter: retryAfter, startedAt: startedAt, now: now)
        case .unanswered: self.fail(slot, message, .unanswered, startedAt: startedAt, now: now)
        case .unstarted(let reason, let retryAfter):
            return self.postpone(slot, message, reason, retryAfter: retryAfter, now: now)
        case .rejected(let reason): self.deadLetter(message, .rejected(reason), attempts: 1, attempt)
        case .presented:
            self.note(.presented, message)
            self.change(message, .presented, attempt: attempt)
        case .unreached:
            self.note(.unreached(attempt: number), message)
            self.change(message, .done(.noData), attempts: 1, attempt: attempt)
        case .setAside:
            self.note(.setAside, message)
            self.change(message, .setAside)
        case .result(let result):
            self.note(.done(result, attempt: number, isLate: false), message)
            self.change(message, .done(result), attempts: 1, attempt: attempt)
        }
        if !self.reactions.isEmpty { self.react(to: message.sequence, message.installation) }
    }

    mutating func fail(
        _ slot: Int, _ message: QueuedMessage, _ failure: DeliveryFailure, retryAfter: Duration? = nil,
        startedAt: MonotonicInstant, now: MonotonicInstant
    ) {
        guard let place = self.calls[slot]?.place,
            self.retry(message, failure, retryAfter: retryAfter, startedAt: startedAt, now: now)
        else { return }
        self.holdFollowing(message, at: place)
        guard self.configuration.isStrictlyOrdered, let call = self.calls[slot], call.isCuttable else { return }
        self.output.cuts.append(call.id)
    }

    /// Schedules the next attempt, after at least `retryAfter`, or gives up on the message. Returns whether a running
    /// agent will make another attempt.
    mutating func retry(
        _ message: QueuedMessage, _ failure: DeliveryFailure, retryAfter: Duration? = nil,
        startedAt: MonotonicInstant, now: MonotonicInstant
    ) -> Bool {
        let number = message.attempts + 1
        let attempt = MessageChange.Attempt(number: number, startedAt: startedAt, endedAt: now)
        let firstStart = self.configuration.totalLimit.map { _ in message.firstStart ?? startedAt }
        guard number < self.configuration.maximumAttempts else {
            self.deadLetter(message, .attemptsFailed(failure), attempts: 1, attempt)
            return false
        }
        let pause = max(self.configuration.retryDelays[number - 1], retryAfter ?? .zero)
        if let limit = self.configuration.totalLimit, let firstStart, now + pause >= firstStart + limit {
            self.deadLetter(message, .attemptsFailed(failure), attempts: 1, attempt)
            return false
        }
        self.note(.failed(attempt: number, failure, retryAfter: pause), message)
        self.change(
            message, .retry(after: pause, failure: failure, firstStart: firstStart), attempts: 1, attempt: attempt)
        guard self.isServed(message.installation) else { return false }
        self.look(message.installation, at: now + pause)
        return true
    }

    mutating func holdFollowing(_ message: QueuedMessage, at place: Int) {
        guard self.configuration.isStrictlyOrdered else { return }
        self.addBlocker(message.sequence, at: place)
        guard !self.hasSuspects(place) else { return }
        self.unclaim(self.sources[place].queue.removeAll { $0.sequence > message.sequence }, at: place)
    }

    mutating func deadLetter(
        _ message: QueuedMessage, _ reason: DeadLetterReason, attempts: Int = 0, _ attempt: MessageChange.Attempt? = nil
    ) {
        self.note(.dead(reason, attempt: attempt?.number), message)
        self.change(message, .dead(reason), attempts: attempts, attempt: attempt)
    }

    private static var pause: Duration { .seconds(1) }

    private mutating func postpone(
        _ slot: Int, _ message: QueuedMessage, _ reason: String, retryAfter: Duration?, now: MonotonicInstant
    ) {
        guard let call = self.calls[slot] else { return }
        var shortage = self.shortage ?? HandlerShortage(over: now)
        // With `retryAfter`, the reason names the end of the pause, so observers get each new reason.
        if shortage.stall == nil || retryAfter != nil && shortage.stall != reason {
            shortage.stall = reason
            self.output.stalls.append(reason)
        }
        // Counts the other calls that a worker has taken.
        let others = self.calls.count { $0.map { $0.position >= 0 && !$0.isStuck } ?? false } - 1
        shortage.places = min(shortage.places, retryAfter == nil ? others : 0)
        shortage.over = max(shortage.over, now + (retryAfter ?? Self.pause))
        self.shortage = shortage
        self.weigh(message.bytes, at: call.place)
        self.requeue(message, of: call)
    }

    var isStalled: Bool { self.losesPlaces || self.shortage?.stall != nil }

    mutating func endStall() { if !self.isStalled { self.output.stalls.append(nil) } }

    mutating func checkShortage() {
        guard let shortage, shortage.over <= self.now else { return }
        if shortage.places < .max {
            self.shortage?.places = .max
            self.shortage?.over = self.now + Self.pause
        } else {
            self.shortage = nil
            self.endStall()
        }
    }
}
