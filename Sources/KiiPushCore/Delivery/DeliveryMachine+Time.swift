extension DeliveryMachine {
    /// When ``timerFired(now:)`` has something to do; `nil` while it has not.
    package var nextDeadline: MonotonicInstant? {
        var next = [self.retries.nextDue, self.toLoadLater.nextDue, self.sharingDue, self.shortage?.over]
            .compactMap(\.self).min()
        for call in self.calls.values {
            let due = self.due(call)
            if let due, due < next ?? due + .nanoseconds(1) { next = due }
        }
        return next
    }

    /// The calls whose next deadline has come, as far as is known: their threads' progress is to be reported, and those
    /// that are overdue still (``isOverdue(_:now:)``) cut off, before ``timerFired(now:)``.
    package func overdueCalls(now: MonotonicInstant) -> [Int] {
        self.calls.keys.filter { self.isOverdue($0, now: now) }
    }

    package func isOverdue(_ call: Int, now: MonotonicInstant) -> Bool {
        self.calls[call].flatMap(self.due).map { $0 <= now } ?? false
    }

    /// Time has passed: deadlines, retries that are due, pages to be read.
    package mutating func timerFired(now: MonotonicInstant) {
        for (number, call) in self.calls {
            guard let due = self.due(call), due <= now else { continue }
            if !call.isOver, call.isPresenting {
                self.giveUpPresenting(number, call)
            } else if !call.isOver {
                self.timeOut(number, call, now: now)
            } else if self.mayGiveUpThreads {
                self.giveUpWaiting(number, call)
            } else {
                self.losePlace(number)
            }
        }
        self.resumeRetries(now)
        self.loadWhatIsDue(now)
        self.shareMemory(now)
        self.lookAtShortage(now)
        self.settle(at: now)
    }

    /// The machine slept for this long, of which `now` knows nothing: the pauses before further attempts went on
    /// meanwhile, a call's time to answer did not. ``timerFired(now:)`` has something to do then.
    package mutating func machineSlept(_ duration: Duration, now: MonotonicInstant) {
        self.retries.advance(by: duration)
        // Those in the store go by the calendar, which went on as well.
        for installation in self.intakes.keys { self.lookLater(installation, at: now) }
    }

    /// The durable part of a start is on the disk.
    package mutating func committed(_ keys: [DeliveryKey]) {
        for key in keys {
            if case .committing(let entry) = self.alone, entry.message.key == key {
                self.alone = .ready(entry)
            } else if let entry = self.committing.removeValue(forKey: key) {
                self.queues.arrive(entry)
            }
        }
        self.settle()
    }

    /// When something is to be done about a call: its deadline, and if it has not returned long after that, once more.
    private func due(_ call: DeliveryCall<Message>) -> MonotonicInstant? {
        let deadline = call.deadline(self.configuration)
        guard call.isOver else { return deadline }
        // The time of a message whose source was held up may be over before its attempt starts.
        return call.keepsPlace ? nil : max(deadline, call.startedAt) + self.configuration.stuckAfter
    }

    private var mayGiveUpThreads: Bool { self.stuckCalls.count < self.configuration.maximumStuckCalls }

    private mutating func losePlace(_ number: Int) {
        self.calls[number]?.keepsPlace = true
        guard !self.losesPlaces else { return }
        self.losesPlaces = true
        self.output.stalls.append(.stuckCalls(self.configuration.maximumStuckCalls))
    }

    /// A call has returned at last: those that keep their places are looked at again.
    mutating func regainPlaces() {
        guard self.mayGiveUpThreads || !self.calls.values.contains(where: \.keepsPlace) else { return }
        self.losesPlaces = false
        self.output.stalls.append(nil)
        for number in self.calls.keys { self.calls[number]?.keepsPlace = false }
    }

    private mutating func timeOut(_ number: Int, _ call: DeliveryCall<Message>, now: MonotonicInstant) {
        self.output.cancellations.append(number)
        self.calls[number]?.isOver = true
        self.calls[number]?.isSlow = true
        self.giveBackUnstarted(of: number)
        let message = call.current.message
        self.lateAttempts[message.key, default: [:]][number] = LateAttempt(
            number: call.current.attempts + 1, installation: message.installation)
        self.fail(call.current, .timedOut, startedAt: call.startedAt, now: now)
        if call.hasReturned { self.free(number) }
        // Its successors wait for the call to return all the same, unless they are no suspects.
        if call.isAlone { self.alone = .none }
    }

    /// A message could not be shown in time. No handler was called, so that is no attempt: the call loses its place, and the
    /// message is taken up by another thread.
    private mutating func giveUpPresenting(_ number: Int, _ call: DeliveryCall<Message>) {
        self.calls[number]?.isOver = true
        self.calls[number]?.isSlow = true
        self.giveBackUnstarted(of: number)
        self.comeBack(call.current)
        if call.isAlone { self.alone = .none }
        if self.mayGiveUpThreads { self.giveUpWaiting(number, call) } else { self.losePlace(number) }
    }

    private mutating func giveUpWaiting(_ number: Int, _ call: DeliveryCall<Message>) {
        self.counters.stuck += 1
        self.note(.stuck(attempt: call.current.attempts + 1), call.current.message)
        self.stuckCalls.insert(number)
        self.giveBackUnstarted(of: number)
        self.free(number)
    }

    mutating func resumeRetries(_ now: MonotonicInstant) {
        guard !self.isDraining else { return }
        var commitment = DeliveryOutput.Commitment(changes: [], keys: [])
        while let entry = self.retries.popDue(now) {
            self.present.weigh(entry.message.key, as: self.scale.weight(of: entry.message.bytes))
            self.committing[entry.message.key] = entry
            commitment.changes.append(self.change(entry, .inHand))
            commitment.keys.append(entry.message.key)
        }
        if !commitment.keys.isEmpty { self.output.commitments.append(commitment) }
    }
}
