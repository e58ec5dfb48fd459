/// What delivery asks to be written about a message. Changes of one message are applied in the order given, and one of a
/// message that is gone is ignored.
package struct MessageChange: Sendable, Hashable {
    // What is rare stands elsewhere, so that the common changes are small.
    package enum Verdict: Sendable, Hashable {
        /// Handled (or there was nothing to handle): never delivered again.
        case done(FetchResult)
        /// The same, if the store writes this with it. Otherwise the message is as it was.
        indirect case committing(FetchResult, AnswerWork)
        /// To be tried again when `after` has passed. `firstStart` is kept where the time for all attempts is limited.
        indirect case retry(after: Duration, failure: DeliveryFailure, firstStart: MonotonicInstant?)
        /// Handed to a handler, alone. If the process ends now, it is suspected again.
        case inHand
        /// Given back unstarted, to the rows of its source.
        case waiting(source: Int64)
        /// Left to the next run of its agent: it waits, and belongs to no source until then.
        case setAside
        case presented
        indirect case dead(DeadLetterReason)
        /// The user opened what showed it. One in hand stays so; any other waits to be delivered, with its attempts
        /// forgotten. From now on it is read back with what the user chose.
        indirect case opened(DeliveryOpening)
        /// What showed it is gone, unopened: done without data if it is in state presented, and otherwise as it was.
        case unopened
        /// It cannot be shown any more: waits to be delivered if it is in state presented, and is otherwise as it was.
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
    /// The message's attempts from now on.
    package var attempts = 0
    /// The message's crashes from now on.
    package var crashes = 0
    /// For the record; `nil` where the change follows from none. With ``Verdict/inHand``: the one that is to run alone.
    package var attempt: Attempt?
    /// How long the message is, if that is known: what stands in a store as delivery left it need not be looked at first.
    package var bytes: Int?
}

extension MessageChange {
    package init(sequence: Int64, installation: Int64, verdict: Verdict) {
        (self.sequence, self.installation, self.verdict) = (sequence, installation, verdict)
    }
}

/// The columns of a row that a verdict changes.
extension MessageChange {
    /// When it came about.
    package func time(by clock: TurnClock) -> Timestamp {
        self.attempt?.endedAt.map(clock.timestamp(of:)) ?? clock.now
    }

    /// When the attempt started that came to this.
    package func startedAt(by clock: TurnClock) -> Timestamp? { self.attempt?.startedAt.map(clock.timestamp(of:)) }

    /// The row's state from now on. A row in hand that is opened stays in hand, with its attempts.
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

    /// The only state in which the row is changed; `nil`: any.
    package var onlyIn: RowState? {
        switch self.verdict {
        case .unopened, .unpresented: .presented
        default: nil
        }
    }

    /// The common end of a message: nothing is to be noted but the answer. Leaving attempts and crashes as they are is the
    /// cheaper statement.
    package var isCommonEnd: Bool {
        switch self.verdict {
        case .done, .committing: !self.isLate && self.attempts <= 1 && self.crashes == 0
        default: false
        }
    }

    /// Whether the row's attempts and crashes stay as they are.
    package var keepsNumbers: Bool { self.isCommonEnd || self.onlyIn != nil }

    /// Of an answer: whether its attempt was over.
    private var isLate: Bool { self.attempt.map { $0.startedAt == nil } ?? false }

    /// The result of the last attempt, of a row that becomes `done`, where no event says it.
    package var answer: FetchResult? {
        switch self.verdict {
        case .done(let result), .committing(let result, _): self.isLate ? nil : result
        case .unopened: .noData
        default: nil
        }
    }

    /// The source that the row belongs to from now on, or that it belongs to none; `nil` where that stays as it is.
    package var source: Int64?? {
        switch self.verdict {
        case .waiting(let source): source
        case .setAside: .some(nil)
        default: nil
        }
    }

    /// The last error, or why the message is dead; `nil` keeps what is there, unless the row becomes `done`.
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

    /// The user's choice on the notification that showed the message; `nil` keeps the one that is there.
    package var openedBy: UserAction? {
        if case .opened(let opening) = self.verdict { opening.action } else { nil }
    }

    /// The event that is recorded besides.
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
