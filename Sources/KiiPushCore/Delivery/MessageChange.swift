/// A change of one message for the store. The store applies changes in order. It ignores a change of a message that is
/// gone, except ``Verdict/opened(_:by:isRecorded:)`` in a store in memory.
package struct MessageChange: Sendable, Hashable {
    // Rare values are indirect, which keeps common changes small.
    package enum Verdict: Sendable, Hashable {
        case done(FetchResult)
        /// Done if the store writes this work with the answer. Otherwise the message stays as it was.
        indirect case committing(FetchResult, AnswerWork)
        /// The message is due after this pause. `firstStart` is set if the time for all attempts is limited.
        indirect case retry(after: Duration, failure: DeliveryFailure, firstStart: MonotonicInstant?)
        /// Records the attempts and crashes of a message that runs alone, because it may have ended an earlier process.
        case inHand
        /// No attempt was made. The row waits in this source.
        case waiting(source: Int64)
        /// The row waits for the next run of its agent, and belongs to no source until then.
        case setAside
        case presented
        indirect case dead(DeadLetterReason)
        /// The user opened the notification. A row in state `inHand` keeps the state; any other row becomes `waiting`,
        /// and its attempts restart at 0. A store that has dropped the message restores it from this copy. `isRecorded`:
        /// an earlier change has recorded the event.
        indirect case opened(StoredMessage, by: UserAction, isRecorded: Bool = false)
        /// The notification is gone, unopened. A presented row becomes `done`, with ``FetchResult/noData``; other rows
        /// stay as they are.
        case unopened
        /// The notification cannot be shown any more. A presented row becomes `waiting`; other rows stay as they are.
        case unpresented
    }

    package struct Attempt: Sendable, Hashable {
        package var number: Int
        package var startedAt: MonotonicInstant?
        package var endedAt: MonotonicInstant?

        package init(number: Int, startedAt: MonotonicInstant? = nil, endedAt: MonotonicInstant? = nil) {
            (self.number, self.startedAt, self.endedAt) = (number, startedAt, endedAt)
        }
    }

    package var sequence: Int64
    package var installation: Int64
    package var verdict: Verdict
    package var attempts = 0
    package var crashes = 0
    /// The attempt that led to the change or, with ``Verdict/inHand``, follows the change.
    package var attempt: Attempt?
    package var bytes: Int?
}

extension MessageChange {
    package init(sequence: Int64, installation: Int64, verdict: Verdict) {
        (self.sequence, self.installation, self.verdict) = (sequence, installation, verdict)
    }
}

extension MessageChange {
    package func time(by clock: TurnClock) -> Timestamp {
        self.attempt?.endedAt.map(clock.timestamp(of:)) ?? clock.now
    }

    package func startedAt(by clock: TurnClock) -> Timestamp? { self.attempt?.startedAt.map(clock.timestamp(of:)) }

    /// The state after the change, unless the user opens a row in state `inHand`, which keeps that state.
    package var state: RowState {
        switch self.verdict {
        case .done, .committing, .unopened: .done
        case .retry: .retry
        case .inHand: .inHand
        case .waiting, .setAside, .opened, .unpresented: .waiting
        case .presented: .presented
        case .dead: .dead
        }
    }

    /// The only state in which the change applies; `nil`: any state.
    package var onlyIn: RowState? {
        switch self.verdict {
        case .unopened, .unpresented: .presented
        default: nil
        }
    }

    /// Whether the message is done in time by its first attempt, as most are. The SQL statement for these is cheaper.
    package var isCommonEnd: Bool {
        switch self.verdict {
        case .done, .committing: !self.isLate && self.attempts <= 1 && self.crashes == 0
        default: false
        }
    }

    package var keepsNumbers: Bool { self.isCommonEnd || self.onlyIn != nil }

    private var isLate: Bool { self.attempt.map { $0.startedAt == nil } ?? false }

    package var answer: FetchResult? {
        switch self.verdict {
        case .done(let result), .committing(let result, _): self.isLate ? nil : result
        case .unopened: .noData
        default: nil
        }
    }

    /// `.some(nil)`: no source. `nil`: the source stays.
    package var source: Int64?? {
        switch self.verdict {
        case .waiting(let source): source
        case .setAside: .some(nil)
        default: nil
        }
    }

    /// `nil` keeps the old text, unless the row becomes `done`.
    package var reason: String? {
        switch self.verdict {
        case .retry(_, let failure, _): failure.description
        case .dead(let reason): reason.description
        default: nil
        }
    }

    package func nextAttempt(after now: Timestamp) -> Timestamp? {
        if case .retry(let delay, _, _) = self.verdict { now + delay } else { nil }
    }

    package var openedBy: UserAction? {
        if case .opened(_, let action, _) = self.verdict { action } else { nil }
    }

    package var event: MessageEvent.Kind? {
        switch self.verdict {
        case .done(let result), .committing(let result, _):
            self.isLate ? self.attempt.map { .done(result, attempt: $0.number, isLate: true) } : nil
        case .retry(let delay, let failure, _):
            .failed(attempt: self.attempt?.number ?? self.attempts, failure, retryAfter: delay)
        case .inHand: self.attempt.map { .isolated(attempt: $0.number) }
        case .presented: .presented
        case .opened(_, let action, let isRecorded): isRecorded ? nil : .opened(action)
        case .dead(let reason): .dead(reason, attempt: self.attempt?.number)
        case .waiting, .setAside, .unopened, .unpresented: nil
        }
    }
}
