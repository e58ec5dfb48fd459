extension RowChange {
    /// Delivery's verdict as a row's state, and what is recorded beside it.
    package init(_ change: MessageChange, at clock: TurnClock) {
        self.init(sequence: change.sequence, state: .done, attempts: change.attempts, crashes: change.crashes)
        self.startedAt = change.attempt?.startedAt.map(clock.timestamp(of:))
        switch change.verdict {
        case .done(let result), .committing(let result, _):
            if let attempt = change.attempt, attempt.startedAt == nil {
                self.event = .done(result, attempt: attempt.number, isLate: true)
                return
            }
            self.answer = result
            // The common end of a message; leaving the numbers as they are is the cheaper statement.
            guard change.attempts <= 1, change.crashes == 0 else { return }
            self.keepNumbers()
            self.bytes = change.bytes
        case .retry(let delay, let failure, _):
            self.state = .retry
            self.nextAttempt = clock.now + delay
            self.reason = failure.description
            self.event = .failed(attempt: change.attempt?.number ?? change.attempts, failure, retryAfter: delay)
        case .inHand:
            self.state = .inHand
            self.event = change.attempt.map { .isolated(attempt: $0.number) }
        case .waiting(let source):
            self.state = .waiting
            self.source = .set(source)
        case .setAside:
            self.state = .waiting
            self.source = .none
        case .presented:
            self.state = .presented
            self.event = .presented
            self.attempt = change.attempt?.number
        case .opened(let opening):
            self.state = .waiting
            self.openedBy = opening.action.stored
            self.event = opening.isRecorded ? nil : .opened(opening.action)
        case .unopened:
            self.onlyIn = .presented
            self.answer = .noData
            self.keepNumbers()
        case .unpresented:
            self.state = .waiting
            self.onlyIn = .presented
            self.keepNumbers()
        case .dead(let reason):
            self.state = .dead
            self.reason = reason.description
            self.event = .dead(reason, attempt: change.attempt?.number)
            switch reason {
            // No handler sees such a message, whatever handlers there are.
            case .undecodable, .unexpectedTopic, .oversized: self.isRefused = true
            case .attemptsFailed, .rejected, .crashed, .command, .other: break
            }
        }
    }
}
