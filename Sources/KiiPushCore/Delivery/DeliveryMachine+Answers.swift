extension DeliveryMachine {
    // MARK: - Reports of threads

    /// A thread's call goes on, and this is how far it has come.
    package mutating func reported(_ call: Int, _ progress: DeliveryProgress, now: MonotonicInstant) {
        self.take(call, progress, now: now)
        self.settle(at: now)
    }

    /// A thread has left its call.
    ///
    /// - Parameters:
    ///   - isUnanswered: the handler of the message at `progress.position` has returned, and its answer is still to
    ///     come. Otherwise every message up to and including that one has its answer.
    ///   - call: the claim that the report is about.
    ///   - progress: how far it came; `nil` if that was reported before.
    ///   - now: the time.
    package mutating func returned(
        _ call: Int, _ progress: DeliveryProgress? = nil, isUnanswered: Bool = false, now: MonotonicInstant
    ) {
        guard self.stuckCalls.remove(call) == nil else { return self.settle(at: now) }
        if let progress { self.take(call, progress, now: now) }
        self.giveBackUnstarted(of: call)
        if isUnanswered, self.calls[call]?.isOver == false {
            self.calls[call]?.hasReturned = true
            self.calls[call]?.isSlow = true
        } else {
            self.free(call)
        }
        self.settle(at: now)
    }

    /// A thread has left its call, which goes on elsewhere: the messages behind the present one are not held up by it.
    package mutating func cutShort(_ call: Int, _ progress: DeliveryProgress, now: MonotonicInstant) {
        self.take(call, progress, now: now)
        self.calls[call]?.isSlow = true
        self.giveBackUnstarted(of: call)
        self.settle(at: now)
    }

    /// Whether the call holds a place.
    package func isRunning(_ call: Int) -> Bool { self.calls[call] != nil }

    /// Whether the call's present attempt has its verdict, the deadline's included.
    package func isOver(_ call: Int) -> Bool { self.calls[call]?.isOver ?? true }

    mutating func giveBackUnstarted(of call: Int) {
        guard let state = self.calls[call], state.position + 1 < state.entries.count else { return }
        self.calls[call]?.isSlow = true
        self.calls[call]?.entries.removeSubrange((state.position + 1)...)
        // The last one first, so that each goes to the front of its queue.
        for entry in state.entries[(state.position + 1)...].reversed() { self.comeBack(entry) }
    }

    mutating func comeBack(_ entry: Entry) {
        guard self.isDraining || self.intakes[entry.message.installation] == nil else {
            return self.queues.putBack(entry)
        }
        self.present.remove(entry.message.key)
        self.output.changes.append(self.change(entry, .waiting))
    }

    private mutating func take(_ call: Int, _ progress: DeliveryProgress, now: MonotonicInstant) {
        guard var state = self.calls[call] else { return }
        self.output.expect(
            changes: progress.answers.count, events: self.isObserved ? 2 * progress.answers.count : 0)
        for answer in progress.answers where answer.index >= state.position {
            if answer.index > state.position { self.note(.started(attempt: 1), state.entries[answer.index].message) }
            guard answer.index > state.position || !state.isOver else { continue }
            state.position = answer.index
            state.isOver = true
            self.conclude(state, answer.verdict, now: now)
        }
        if progress.position > state.position {
            state.position = progress.position
            state.startedAt = progress.startedAt
            state.isOver = false
            self.note(.started(attempt: 1), state.current.message)
        } else if progress.position == state.position {
            state.startedAt = progress.startedAt
        }
        state.isPresenting = progress.isPresenting
        self.calls[call] = state
    }

    /// The call's place is free again, and so is its source.
    mutating func free(_ call: Int) {
        guard let state = self.calls.removeValue(forKey: call) else { return }
        self.queues.release(state.source, wasQuick: !state.isSlow)
        if case .running(call) = self.alone { self.alone = .none }
    }

    // MARK: - Answers that come after the call

    /// A completion was answered, or let go of, after the thread's reports could carry it.
    ///
    /// - Returns: whether the answer counts.
    package mutating func answered(
        _ key: DeliveryKey, call: Int, _ verdict: HandlerVerdict, now: MonotonicInstant
    ) -> Bool {
        defer { self.settle(at: now) }
        if let state = self.calls[call], state.current.message.key == key, !state.isOver {
            self.conclude(state, verdict, now: now)
            self.calls[call]?.isOver = true
            if state.hasReturned { self.free(call) }
            return verdict != .unanswered
        }
        return self.answeredLate(key, call, verdict, now: now)
    }

    private mutating func answeredLate(
        _ key: DeliveryKey, _ call: Int, _ verdict: HandlerVerdict, now: MonotonicInstant
    ) -> Bool {
        // Not there: it was answered before, so this is a second answer and not a late one.
        guard let late = self.lateAttempts[key]?[call] else { return false }
        let counts = late.isOpen && verdict.isSuccess
        switch verdict {
        case .result, .rejected: self.counters.late += 1
        case .unanswered, .threw, .presented, .unreached, .unstarted, .setAside:
            // Let go of, ended by its cancellation, or left to a later run: nothing more will come.
            self.forgetLateAttempt(key, call)
            return false
        }
        if self.isObserved {
            self.output.events.append(
                DeliveryEvent(
                    sequence: key.sequence,
                    installation: late.installation,
                    kind: .late(verdict, attempt: late.number, counted: counts)
                ))
        }
        guard counts, case .result(let result) = verdict else { return false }
        self.forgetLateAttempt(key, call)
        self.withdraw(key, installation: late.installation)
        self.output.changes.append(
            DeliveryChange(
                sequence: key.sequence,
                installation: late.installation,
                verdict: .done(result),
                attempts: late.number,
                crashes: 0,
                attempt: .init(number: late.number, endedAt: now)
            ))
        self.countSuccess(result)
        return true
    }

    private mutating func forgetLateAttempt(_ key: DeliveryKey, _ call: Int) {
        self.lateAttempts[key]?[call] = nil
        if self.lateAttempts[key]?.isEmpty == true { self.lateAttempts[key] = nil }
    }

    /// Takes a message out of memory whose handler does not run.
    mutating func withdraw(_ key: DeliveryKey, installation: Int64) {
        self.leaveMemory(key, installation: installation)
        var entries = self.retries.removeAll { $0.message.key == key }
        if let entry = self.committing.removeValue(forKey: key) {
            entries.append(entry)
            self.withdrawCommitments(of: [key])
        }
        for entry in entries { self.queues.unbind(entry) }
        _ = self.queues.removeAll { $0.message.key == key }
        _ = self.suspects.removeAll { $0.message.key == key }
        switch self.alone {
        case .committing(let entry) where entry.message.key == key, .ready(let entry) where entry.message.key == key:
            self.alone = .none
            self.withdrawCommitments(of: [key])
        case .none, .committing, .ready, .running: return
        }
    }

    /// What was to be written before these messages went on is not handed out any more: they do not go on, and it would
    /// be written over what they came to instead.
    mutating func withdrawCommitments(of keys: Set<DeliveryKey>) {
        guard !keys.isEmpty else { return }
        for index in self.output.commitments.indices {
            let kept = self.output.commitments[index].keys.indices.filter {
                !keys.contains(self.output.commitments[index].keys[$0])
            }
            guard kept.count < self.output.commitments[index].keys.count else { continue }
            let commitment = self.output.commitments[index]
            self.output.commitments[index] = .init(
                changes: kept.map { commitment.changes[$0] }, keys: kept.map { commitment.keys[$0] })
        }
        self.output.commitments.removeAll(where: \.keys.isEmpty)
    }

    // MARK: - Verdicts

    /// The call's present attempt is over.
    private mutating func conclude(
        _ call: DeliveryCall<Message>, _ verdict: HandlerVerdict, now: MonotonicInstant
    ) {
        let (entry, startedAt) = (call.current, call.startedAt)
        let attempt = DeliveryChange.Attempt(number: entry.attempts + 1, startedAt: startedAt, endedAt: now)
        switch verdict {
        case .result(.failed): self.fail(entry, .failed, startedAt: startedAt, now: now)
        case .threw(let error): self.fail(entry, .threw(error), startedAt: startedAt, now: now)
        case .unanswered: self.fail(entry, .unanswered, startedAt: startedAt, now: now)
        case .unstarted(let reason): self.postpone(call, reason, now: now)
        case .rejected(let reason): self.bury(entry.after(1), .rejected(reason), attempt)
        case .presented:
            self.counters.presented += 1
            self.note(.presented, entry.message)
            self.finish(entry, .presented, attempt)
        case .unreached:
            self.counters.unreached += 1
            self.countSuccess(.noData)
            self.note(.unreached(attempt: attempt.number), entry.message)
            self.finish(entry.after(1), .done(.noData), attempt)
        case .setAside:
            self.note(.setAside, entry.message)
            self.setAside(entry)
        case .result(let result):
            self.countSuccess(result)
            self.note(.answered(result, attempt: attempt.number), entry.message)
            self.finish(entry.after(1), .done(result), attempt)
        }
    }

    mutating func fail(
        _ entry: Entry, _ failure: DeliveryFailure, startedAt: MonotonicInstant, now: MonotonicInstant
    ) {
        self.counters.failedAttempts += 1
        let entry = entry.after(1)
        let attempt = DeliveryChange.Attempt(number: entry.attempts, startedAt: startedAt, endedAt: now)
        guard entry.attempts < self.configuration.maximumAttempts else {
            return self.bury(entry, .attemptsFailed(failure), attempt)
        }
        let pause = self.configuration.retryDelays[entry.attempts - 1]
        let due = now + pause
        if let limit = self.configuration.totalLimit, let first = entry.firstStart, due >= first + limit {
            return self.bury(entry, .attemptsFailed(failure), attempt)
        }
        self.note(.retry(attempt: entry.attempts, failure: failure, after: pause), entry.message)
        self.output.changes.append(self.change(entry, .retry(after: pause, failure: failure), attempt: attempt))
        self.pause(entry, until: due)
    }

    private mutating func pause(_ entry: Entry, until due: MonotonicInstant) {
        var entry = entry
        let (key, installation) = (entry.message.key, entry.message.installation)
        if self.isDraining || self.intakes[installation] == nil {
            self.present.remove(key)
            return
        } else if self.configuration.isStrictlyOrdered {
            self.queues.holdBack(entry.message)
            entry.bond = .heldBack
        } else if self.configuration.totalLimit == nil, self.present.weight > self.configuration.messagesInMemory / 4,
            self.intakes[installation]?.isOpen == true
        {
            // Messages that fail for half an hour must not keep others out of memory: the store brings it back.
            self.present.remove(key)
            if self.intakes[installation]?.isLoading == true {
                self.intakes[installation]?.failedWhileLoading[key.sequence] = entry.attempts
            }
            return self.lookLater(installation, at: due)
        }
        self.wait(entry, until: due)
    }

    /// Keeps a message in memory until its next attempt.
    mutating func wait(_ entry: Entry, until due: MonotonicInstant) {
        // With strict order a retry keeps its place, one of each source, so none of them may keep others out.
        if self.configuration.isStrictlyOrdered { self.present.weigh(entry.message.key, as: 0) }
        self.retries.add(entry, due: due)
    }

    /// Gives up on a message, after this attempt if there was one.
    mutating func bury(_ entry: Entry, _ reason: DeadLetterReason, _ attempt: DeliveryChange.Attempt? = nil) {
        self.counters.dead += 1
        self.note(.dead(reason), entry.message)
        self.finish(entry, .dead(reason), attempt)
    }

    private mutating func finish(
        _ entry: Entry, _ verdict: DeliveryChange.Verdict, _ attempt: DeliveryChange.Attempt?
    ) {
        self.output.changes.append(self.change(entry, verdict, attempt: attempt))
        self.leaveMemory(entry.message.key, installation: entry.message.installation)
    }

    /// A load that is under way may bring the row all the same: ``loaded(_:_:messages:now:)`` has it wait again.
    private mutating func setAside(_ entry: Entry) {
        self.intakes[entry.message.installation]?.setAside.sequences.insert(entry.message.sequence)
        self.output.changes.append(self.change(entry, .waiting))
        self.present.remove(entry.message.key)
    }

    private mutating func leaveMemory(_ key: DeliveryKey, installation: Int64) {
        self.present.remove(key)
        guard self.loadsInFlight > 0 else { return }
        for (attachment, load) in self.departed where load.installation == installation {
            self.departed[attachment]?.outdated.insert(key.sequence)
        }
        guard self.intakes[installation]?.isLoading == true else { return }
        self.intakes[installation]?.outdatedWhileLoading.insert(key.sequence)
    }

    private mutating func countSuccess(_ result: FetchResult) {
        if result == .newData { self.counters.newData += 1 } else { self.counters.noData += 1 }
    }
}

extension DeliveryEntry {
    /// The entry with one more attempt over.
    func after(_ attempts: Int) -> DeliveryEntry {
        var entry = self
        entry.attempts += attempts
        return entry
    }
}
