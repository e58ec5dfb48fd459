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
