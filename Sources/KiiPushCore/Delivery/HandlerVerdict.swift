/// How one call of a handler came out.
package enum HandlerVerdict: Sendable, Hashable {
    case result(FetchResult)
    /// The message is done once the store has written this with it.
    case committing(FetchResult, AnswerWork)
    case rejected(String)
    /// `retryAfter`: how long to wait at least until the next attempt.
    case threw(String, retryAfter: Duration? = nil)
    /// The completion was let go of without an answer.
    case unanswered
    /// Nobody was called: the message is shown to the user instead.
    case presented
    /// Nobody was called, since there is nobody whom the message is for.
    case unreached
    /// Nobody was called, since the machine is short of what starting somebody takes, for this reason.
    /// `retryAfter`: how long to wait before anybody is called, where nobody is to be called until then.
    case unstarted(String, retryAfter: Duration? = nil)
    /// The message is left to a later run, and this attempt does not count.
    case setAside

    /// Whether the handler has finished with the message for this run, as far as is known at once.
    var isSuccess: Bool {
        switch self {
        case .result(.newData), .result(.noData), .unreached, .setAside: true
        case .result(.failed), .committing, .rejected, .threw, .unanswered, .presented, .unstarted: false
        }
    }
}
