extension RowChange {
    /// Delivery's verdict as a row's state, and what the record says about it.
    package init(_ change: DeliveryChange, at clock: TurnClock) {
        self.init(sequence: change.sequence, state: .done, attempts: change.attempts, crashes: change.crashes)
        let startedAt = change.attempt?.startedAt.map(clock.timestamp(of:))
        switch change.verdict {
        case .done(let result):
            let answer: RowAnswer = result == .newData ? .newData : .noData
            if let attempt = change.attempt, attempt.startedAt == nil {
                self.event = .late(attempt: attempt.number, answer)
                return
            }
            self.startedAt = startedAt
            self.answer = answer
            // The common end of a message; leaving the numbers as they are is the cheaper statement.
            guard change.attempts <= 1, change.crashes == 0 else { return }
            self.attempts = nil
            self.crashes = nil
        case .retry(let delay, let failure):
            self.state = .retry
            self.nextAttempt = clock.now + delay
            self.reason = failure.description
            self.event = .failed(
                attempt: change.attempt?.number ?? change.attempts, startedAt: startedAt,
                failure: failure.description, pause: delay)
        case .inHand:
            self.state = .inHand
            self.event = change.attempt.map { .isolated(attempt: $0.number) }
        case .waiting: self.state = .waiting
        case .presented:
            self.state = .presented
            self.event = .presented(attempt: change.attempt?.number ?? change.attempts + 1, startedAt: startedAt)
        case .opened(let opening):
            self.state = .waiting
            self.openedBy = opening.action.stored
            self.event = opening.isRecorded ? nil : .opened(opening.action.stored)
        case .unopened:
            self.onlyIn = .presented
            self.answer = .noData
            self.attempts = nil
            self.crashes = nil
        case .unpresented:
            self.state = .waiting
            self.onlyIn = .presented
            self.attempts = nil
            self.crashes = nil
        case .dead(let reason):
            self.state = .dead
            self.reason = reason.description
            self.event = .dead(attempt: change.attempt?.number, startedAt: startedAt, reason: reason.description)
        }
    }
}

extension UserAction {
    /// The choice in the inbox's words: the action's identifier, and nothing for what has none.
    var stored: String { self.identifier ?? "" }

    init(stored: String) { self = stored.isEmpty ? .open : .custom(stored) }
}
