/// A change of one message for the store to write. The store applies the changes of a message in the given order, and
/// ignores a change of a message that is gone.
package struct MessageChange: Sendable, Hashable {
    // Rare values are indirect, so that the common changes are small.
    package enum Verdict: Sendable, Hashable {
        /// Handled (or there was nothing to handle): never delivered again.
        case done(FetchResult)
        /// Handled, if the store writes this work with the answer. Otherwise the message stays as it was.
        indirect case committing(FetchResult, AnswerWork)
        /// The message is due again when `after` has passed. `firstStart` is set if the time for all attempts is
        /// limited.
        indirect case retry(after: Duration, failure: DeliveryFailure, firstStart: MonotonicInstant?)
        /// Handed to a handler, alone. If the process ends now, the message is a suspect again.
        case inHand
        /// Given back unstarted: the row waits in this source.
        case waiting(source: Int64)
        /// Left to the next run of its agent: the row waits, and belongs to no source until then.
        case setAside
        case presented
        indirect case dead(DeadLetterReason)
        /// The user opened the notification. A row in hand stays so; any other row waits for delivery, and its attempts
        /// restart at 0. From now on, reading the row returns the user's choice.
        indirect case opened(DeliveryOpening)
        /// The notification is gone, unopened: a presented row becomes done, without data. Any other row stays as it
        /// is.
        case unopened
        /// The notification cannot be shown any more: a presented row waits for delivery. Any other row stays as it is.
        case unpresented
    }

    package struct Attempt: Sendable, Hashable {
        package var number: Int
        /// `nil` before the call, and for a late answer.
        package var startedAt: MonotonicInstant?
        /// `nil` before its end.
        package var endedAt: MonotonicInstant?

        package init(number: Int, startedAt: MonotonicInstant? = nil, endedAt: MonotonicInstant? = nil) {
            (self.number, self.startedAt, self.endedAt) = (number, startedAt, endedAt)
        }
    }

    package var sequence: Int64
    package var installation: Int64
    package var verdict: Verdict
    /// The message's attempts and crashes after the change.
    package var attempts = 0
    package var crashes = 0
    /// The attempt for the record; `nil` if no attempt led to the change. With ``Verdict/inHand``: the attempt that
    /// will run alone.
    package var attempt: Attempt?
    /// The message's size, if known. The store then need not read the row first if the row is as delivery left it.
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

    /// The row's state after the change. A row in hand that the user opens stays in hand, with its attempts.
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

    /// The only state in which the store changes the row; `nil`: any state.
    package var onlyIn: RowState? {
        switch self.verdict {
        case .unopened, .unpresented: .presented
        default: nil
        }
    }

    /// Whether the store has nothing to note but the answer, as at the end of most messages. Leaving attempts and
    /// crashes as they are makes the statement cheaper.
    package var isCommonEnd: Bool {
        switch self.verdict {
        case .done, .committing: !self.isLate && self.attempts <= 1 && self.crashes == 0
        default: false
        }
    }

    package var keepsNumbers: Bool { self.isCommonEnd || self.onlyIn != nil }

    /// For an answer: whether its attempt was over.
    private var isLate: Bool { self.attempt.map { $0.startedAt == nil } ?? false }

    /// The result of the last attempt, if the row becomes `done` and no event holds the result.
    package var answer: FetchResult? {
        switch self.verdict {
        case .done(let result), .committing(let result, _): self.isLate ? nil : result
        case .unopened: .noData
        default: nil
        }
    }

    /// The row's source after the change, or `.some(nil)` for no source; `nil` keeps the source.
    package var source: Int64?? {
        switch self.verdict {
        case .waiting(let source): source
        case .setAside: .some(nil)
        default: nil
        }
    }

    /// The last error, or why the message is dead; `nil` keeps the old text, unless the row becomes `done`.
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

    /// The user's choice on the notification that showed the message; `nil` keeps the stored choice.
    package var openedBy: UserAction? {
        if case .opened(let opening) = self.verdict { opening.action } else { nil }
    }

    /// The event that the store records with the change.
    package var event: MessageEvent.Kind? {
        switch self.verdict {
        case .done(let result), .committing(let result, _):
            self.isLate ? self.attempt.map { .done(result, attempt: $0.number, isLate: true) } : nil
        case .retry(let delay, let failure, _):
            .failed(attempt: self.attempt?.number ?? self.attempts, failure, retryAfter: delay)
        case .inHand: self.attempt.map { .isolated(attempt: $0.number) }
        case .presented: .presented
        case .opened(let opening): opening.isRecorded ? nil : .opened(opening.action)
        case .dead(let reason): .dead(reason, attempt: self.attempt?.number)
        case .waiting, .setAside, .unopened, .unpresented: nil
        }
    }
}
