extension RowChange {
    /// Delivery's verdict as a row's state, and what the record says about it.
    package init(_ change: MessageChange, at clock: TurnClock) {
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
        case .retry(let delay, let failure, _):
            self.state = .retry
            self.nextAttempt = clock.now + delay
            self.reason = failure.description
            self.event = .failed(
                attempt: change.attempt?.number ?? change.attempts, startedAt: startedAt,
                failure: failure.description, pause: delay)
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
            self.isRefused = reason.isOfRefused
            self.event = .dead(attempt: change.attempt?.number, startedAt: startedAt, reason: reason.description)
        }
    }
}

extension DeadLetterReason {
    /// Whether no handler sees such a message, whatever handlers there are.
    fileprivate var isOfRefused: Bool {
        switch self {
        case .undecodable, .unexpectedTopic, .oversized: true
        case .attemptsFailed, .rejected, .crashed, .command: false
        }
    }
}

extension UserAction {
    /// Marks the identifier of a background action. A control character, which no category names an action with.
    private static let backgroundMark: Character = "\u{1F}"

    /// The choice as the inbox and the control socket write it: empty for ``open``, else the action's identifier.
    var stored: String {
        switch self {
        case .open: ""
        case .custom(let identifier): identifier
        case .background(let identifier): "\(Self.backgroundMark)\(identifier)"
        }
    }

    init(stored: String) {
        if stored.isEmpty {
            self = .open
        } else if stored.first == Self.backgroundMark {
            self = .background(String(stored.dropFirst()))
        } else {
            self = .custom(stored)
        }
    }
}
