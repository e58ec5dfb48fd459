package struct Wait {
    package enum Event: Sendable {
        /// No handler runs for this installation, or with `nil`, for any installation.
        case calls(of: Int64?)
        /// Everything submitted before the wait is written.
        case writing
    }

    let event: Event
    /// The count of commits at which everything submitted before the wait is written, if each commit writes a whole
    /// turn.
    let commits: Int
    let deadline: MonotonicInstant
    let done: @Sendable (Bool) -> Void
}

struct Staffing {
    /// The pause before the pipeline wakes one more worker. Workers that are awake may take the waiting calls first.
    static let interval: Duration = .milliseconds(1)
    static let retryInterval: Duration = .seconds(1)

    var isDue = false
    /// When to wake one more worker, by the loop's clock: threads take real time even if a test moves delivery's clock.
    var next: MonotonicInstant?
    /// When to ask for a thread again, by delivery's clock.
    var retryAt: MonotonicInstant?
    var isStalled = false
}

// MARK: - Agents

extension Pipeline {
    package func attach(installation: Int64, id: String, receiver: any Receiver) {
        let attachment = DeliveryAttachment(id: id, receiver: receiver)
        self.attachments[installation] = attachment
        self.scheduler.attached(installation, takesCommands: attachment.commandHandler != nil)
        self.takeTurn()
    }

    /// Running handlers go on, and their answers count.
    package func detach(installation: Int64) {
        self.attachments[installation] = nil
        self.scheduler.detached(installation)
        self.declineClaims { $0.installation == installation }
        self.takeTurn()
    }

    /// Calls no more handlers. Running handlers go on, and their answers count.
    package func drain() {
        self.scheduler.drain()
        self.declineClaims { _ in true }
        self.takeTurn()
    }

    /// Calls `done` on the loop's thread, with whether the event came: at the event, the deadline or the loop's end, or
    /// when the store is lost.
    func wait(for event: Wait.Event, until deadline: MonotonicInstant, done: @escaping @Sendable (Bool) -> Void) {
        let commits = self.commits + (self.turn.isEmpty ? 0 : 1) + (self.isCommitUnderWay ? 1 : 0)
        self.waits.append(Wait(event: event, commits: commits, deadline: deadline, done: done))
        self.takeTurn()
    }

    var overdue: Duration {
        self.collectAnswers()
        return self.scheduler.overdue(at: self.clock())
    }

    func reacted(_ reaction: Reaction, to sequence: Int64, installation: Int64) {
        // An opening causes a new attempt. An answer to an earlier attempt must not end the message meanwhile.
        let isOpening = if case .opened = reaction { true } else { false }
        self.collectAnswers(closing: isOpening ? sequence : nil)
        self.scheduler.reacted(reaction, to: sequence, installation: installation)
    }

    func record(_ change: MessageChange) {
        self.turn.changes.append(change)
        self.takeTurn()
    }

    package func appeared(_ message: StoredMessage) {
        self.scheduler.appeared(
            message.sequence, source: message.source, installation: message.installation, goesFirst: false)
        self.takeTurn()
    }

    func takeTurn() { self.alarm.set(for: self.loop.now) }
}

// MARK: - In every turn

extension Pipeline {
    /// - Parameter sequence: a message that a person decides about or has opened; later answers to it do not count.
    func collectAnswers(closing sequence: Int64? = nil) {
        self.workers.box.take(into: &self.posts, closing: sequence)
        self.handle(self.posts)
        self.posts.removeAll(keepingCapacity: true)
    }

    private func handle(_ posts: [AnswerBox.Post]) {
        let posts = posts.span
        for index in posts.indices {
            switch posts[index] {
            case .answered(let id, let position, let verdict, let startedAt, let at):
                self.scheduler.answered(id, position: position, verdict, startedAt: startedAt, at: at)
            case .ended(let id, let position, let startedAt, let isUnanswered):
                self.scheduler.ended(id, position: position, startedAt: startedAt, isUnanswered: isUnanswered)
            case .started(let id, let at): self.scheduler.started(id, position: 0, at: at)
            case .left(let id, let position, let startedAt):
                self.scheduler.left(id, position: position, startedAt: startedAt)
            case .skipped(let id, let position): self.scheduler.skipped(id, position: position)
            case .late(let late, let sequence, let verdict, let counts, let at):
                self.scheduler.answeredLate(
                    sequence, late.source, attempt: late.attempt, verdict, counts: counts, at: at)
            }
        }
    }

    func checkDeadlines(at now: MonotonicInstant) {
        for id in self.scheduler.overdueCalls(at: now) {
            let (progress, posts) = self.workers.box.progress(of: id)
            self.handle(posts)
            switch progress {
            case .waiting: self.scheduler.restartDeadline(id, at: now)
            case .answered:
                if self.scheduler.isStuck(id) {
                    self.cut(id)
                    self.scheduler.stuck(id)
                } else {
                    self.scheduler.restartDeadline(id, at: now)
                }
            case .running(let position, let startedAt):
                self.scheduler.started(id, position: position, at: startedAt)
                guard self.scheduler.isOverdue(id), let message = self.scheduler.message(of: id, at: position),
                    let isPresenting = self.workers.box.expire(
                        id, position: position, message, mayEndLate: self.mayEndLate(message))
                else {
                    self.scheduler.restartDeadline(id, at: now)
                    continue
                }
                self.scheduler.timedOut(id, position: position, isPresenting: isPresenting, at: now)
            }
        }
    }

    /// Whether a late success counts: not if the user has opened the message, nor after the last attempt if the store
    /// keeps no dead letters.
    private func mayEndLate(_ message: QueuedMessage) -> Bool {
        !self.scheduler.isOpened(message.sequence)
            && (self.store.keepsDeadLetters || message.attempts + 1 < self.scheduler.configuration.maximumAttempts)
    }

    func settle(at now: MonotonicInstant) {
        self.scheduler.isObserved = self.observer.isListening
        while true {
            self.scheduler.settle(at: now)
            let output = self.scheduler.takeOutput()
            if self.turn.changes.isEmpty {
                self.turn.changes = output.changes
            } else {
                self.turn.changes += output.changes
            }
            self.turn.claims += output.claims
            self.notes += output.notes
            for _ in 0..<output.freedPlaces { self.workers.queue.leave() }
            if output.freedPlaces > 0 { self.staff.isDue = true }
            for id in output.cuts { self.cut(id) }
            if !output.ended.isEmpty { self.workers.box.forgetEnded(output.ended) }
            if !output.calls.isEmpty { self.hand(output.calls) }
            for stall in output.stalls where stall != nil || !self.staff.isStalled {
                self.report(.change(of: .handling, stall))
            }
            if output.cuts.isEmpty, output.calls.isEmpty { break }
        }
        if self.workers.queue.setPlaces(self.scheduler.runningLimit) { self.staff.isDue = true }
    }

    func cut(_ id: CallID) {
        if self.workers.queue.recall(id) { return self.scheduler.recalled(id) }
        let (position, startedAt, posts) = self.workers.box.cut(id)
        self.handle(posts)
        self.scheduler.cut(id, position: position, startedAt: startedAt)
    }

    private func hand(_ calls: [DeliveryCall]) {
        var calls = calls
        for index in calls.indices { calls[index].attachment = self.attachments[calls[index].installation] }
        self.workers.hand(calls)
        self.staff.isDue = true
    }

    func reportReading(_ answer: StoreAnswer) {
        guard answer.isFailure != self.isReadingFailing else { return }
        self.isReadingFailing = answer.isFailure
        self.report(.change(of: .reading, answer.failure))
    }

    func tellNotices() {
        let notices = self.store.notices
        guard !notices.isEmpty, !self.pressure.running().isEmpty else { return }
        for notice in notices {
            self.report(
                .inboxMovedAside(
                    path: notice.path, reason: notice.reason, takenOver: notice.takenOver, lost: notice.lost))
        }
        self.store.removeNotices()
    }

    func finishTurn(at now: MonotonicInstant) {
        if !self.notes.isEmpty {
            self.observer.tell(self.notes, at: self.loop.clocks.calendar, handlers: self.attachments)
            self.notes.removeAll(keepingCapacity: true)
        }
        self.checkWorkers(at: now)
        self.endWaits(at: now)
        let isAwaited = self.awaitsAnswers
        let hasMore =
            (!self.turn.isEmpty && self.retryAt == nil && !self.isCommitUnderWay)
            || !self.workers.box.prepareToSleep(isAwaited: isAwaited)
        var next = hasMore ? now : self.scheduler.nextDeadline
        next = .earlier(next, self.staff.retryAt)
        for wait in self.waits { next = .earlier(next, wait.deadline) }
        if !isAwaited { next = .earlier(next, now + Pipeline.answersKept) }
        if let next { self.alarm.set(for: self.loop.now + max(next - now, .zero)) }
        // Set in every turn: the alarm keeps only its earliest time.
        if let retryAt { self.alarm.set(for: max(retryAt, self.loop.now)) }
    }

    /// The longest delay of a handler's answer that nobody waits for.
    private static let answersKept: Duration = .milliseconds(10)

    /// Whether a row, a broker, a source or a person waits for a handler's answer. If not, a later turn collects the
    /// answers.
    private var awaitsAnswers: Bool {
        self.store.isDurable || self.hasGates || self.scheduler.isIdle || self.scheduler.isObserved
            || !self.waits.isEmpty || self.scheduler.hasQueues
    }

    private func checkWorkers(at now: MonotonicInstant) {
        if let next = self.staff.next, next <= self.loop.now { self.staff.isDue = true }
        guard self.staff.isDue, self.staff.retryAt.map({ $0 <= now }) ?? true else { return }
        self.staff.isDue = false
        self.staff.next = nil
        self.staff.retryAt = nil
        do throws(SystemError) {
            if try self.workers.staff() {
                let next = self.loop.now + Staffing.interval
                self.staff.next = next
                self.alarm.set(for: next)
            }
            guard self.staff.isStalled else { return }
            self.staff.isStalled = false
            if !self.scheduler.isStalled { self.report(.recovered(.handling)) }
        } catch {
            self.staff.isDue = true
            self.staff.retryAt = now + Staffing.retryInterval
            guard !self.staff.isStalled else { return }
            self.staff.isStalled = true
            self.report(.trouble(.handling, reason: error.description))
        }
    }

    var isCommitUnderWay: Bool { self.commitState == .underWay }
    /// Whether every commit would fail, for instance because another process has taken over the store.
    private var isLost: Bool { self.commitState == .lost }

    private func endWaits(at now: MonotonicInstant) {
        guard !self.waits.isEmpty else { return }
        var left: [Wait] = []
        for wait in self.waits {
            let hasCome =
                switch wait.event {
                case .calls(let installation?): self.scheduler.isIdle(installation)
                case .calls(nil): self.scheduler.isIdle
                case .writing:
                    // With a shared store, waits only for the earlier commits, since a later commit is nearly always
                    // under way.
                    self.withheld.isEmpty
                        && (self.turn.isEmpty && !self.isCommitUnderWay
                            || self.isCommitUnderWay && self.commits >= wait.commits)
                }
            if hasCome || wait.deadline <= now || self.isLost { wait.done(hasCome) } else { left.append(wait) }
        }
        self.waits = left
    }

    func endWaits() {
        let (waits, questions) = (self.waits, self.questions)
        (self.waits, self.questions) = ([], [:])
        for wait in waits { wait.done(false) }
        for end in questions.values { end() }
    }
}
