import Testing

@testable import KiiPushCore

extension TestScheduler {
    /// Takes turns until only workers can do more at this time.
    func turn(at seconds: Double) {
        self.clock.set(.seconds(seconds))
        for _ in 0..<1000 {
            self.collectAnswers()
            self.endOverdueAttempts()
            self.scheduler.timePassed(at: self.now)
            self.settle()
            let isWritten = self.pending.isEmpty && self.claims.isEmpty && self.arrivals.isEmpty
            guard !isWritten, !self.holdsCommits else { return }
            self.commit()
            self.settle()
        }
        Issue.record("the scheduler asks and asks")
    }

    func collectAnswers(closing sequence: Int64? = nil) {
        var posts: [AnswerBox.Post] = []
        self.box.take(into: &posts, closing: sequence)
        self.handle(posts)
    }

    func settle() {
        while true {
            self.scheduler.settle(at: self.now)
            let output = self.scheduler.takeOutput()
            self.pending += output.changes
            self.claims += output.claims
            self.happened += output.notes
            self.stallsTold += output.stalls
            for _ in 0..<output.freedPlaces { self.queue.leave() }
            for id in output.cuts { self.cut(id) }
            self.box.forgetEnded(output.ended)
            self.box.open(output.calls)
            self.queue.append(output.calls)
            if output.cuts.isEmpty, output.calls.isEmpty { break }
        }
        _ = self.queue.setPlaces(self.scheduler.runningLimit)
    }

    func cut(_ id: CallID) {
        if self.queue.recall(id) { return self.scheduler.recalled(id) }
        let (position, startedAt, posts) = self.box.cut(id)
        self.handle(posts)
        self.scheduler.cut(id, position: position, startedAt: startedAt)
    }

    private func handle(_ posts: [AnswerBox.Post]) {
        for post in posts {
            switch post {
            case .started(let id, let time): self.scheduler.started(id, position: 0, at: time)
            case .answered(let id, let position, let verdict, let startedAt, let time):
                self.scheduler.answered(id, position: position, verdict, startedAt: startedAt, at: time)
            case .skipped(let id, let position): self.scheduler.skipped(id, position: position)
            case .ended(let id, let position, let startedAt, let isUnanswered):
                self.scheduler.ended(id, position: position, startedAt: startedAt, isUnanswered: isUnanswered)
            case .left(let id, let position, let startedAt):
                self.scheduler.left(id, position: position, startedAt: startedAt)
            case .late(let late, let sequence, let verdict, let counts, let time):
                self.scheduler.answeredLate(
                    sequence, late.source, attempt: late.attempt, verdict, counts: counts, at: time)
            }
        }
    }

    private func endOverdueAttempts() {
        for id in self.scheduler.overdueCalls(at: self.now) {
            let (progress, posts) = self.box.progress(of: id)
            self.handle(posts)
            self.whenOverdue?()
            switch progress {
            case .waiting: self.scheduler.restartDeadline(id, at: self.now)
            case .answered where self.scheduler.isStuck(id):
                self.cut(id)
                self.scheduler.stuck(id)
            case .answered: self.scheduler.restartDeadline(id, at: self.now)
            case .running(let position, let startedAt):
                self.scheduler.started(id, position: position, at: startedAt)
                guard self.scheduler.isOverdue(id), let message = self.scheduler.message(of: id, at: position),
                    let isPresenting = self.box.expire(
                        id, position: position, message, mayEndLate: !self.scheduler.isOpened(message.sequence))
                else {
                    self.scheduler.restartDeadline(id, at: self.now)
                    continue
                }
                self.scheduler.timedOut(id, position: position, isPresenting: isPresenting, at: self.now)
            }
        }
    }

    func commit() {
        let (changes, claims, arrivals) = (self.pending, self.claims, self.arrivals)
        (self.pending, self.claims, self.arrivals) = ([], [], [])
        let isInHand = arrivals.map { message in
            message.sourceID.map { self.scheduler.admit($0, bytes: message.bytes) } ?? false
        }
        let appeared = self.rows.apply(changes, at: self.now)
        for (message, isInHand) in zip(arrivals, isInHand) { self.rows.insert(message, isInHand ? .inHand : .waiting) }
        let answers = claims.map { self.answer($0) }
        self.written += changes
        self.asked += claims
        self.scheduler.committed(changes)
        for (message, isInHand) in zip(arrivals, isInHand) where isInHand {
            let content = DecodedContent(message)
            if case .refused = content { continue }
            self.scheduler.stored(QueuedMessage(message, content))
        }
        for message in appeared { self.appeared(message) }
        for (claim, answer) in zip(claims, answers) { self.scheduler.claimed(claim, answer) }
    }

    private func answer(_ claim: StoreClaim) -> StoreAnswer {
        guard self.failsReads else { return self.rows.answer(claim, at: self.now) }
        var answer = StoreAnswer()
        answer.failure = "declined"
        return answer
    }
}
