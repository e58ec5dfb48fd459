/// Takes a handler's answer to one message.
///
/// - It is called once, within 30 seconds. The first call that counts wins and returns `true`; any other returns
///   `false` and changes nothing.
/// - Letting go of it without an answer is ``FetchResult/failed``.
/// - The deadline does not use it up. The attempt failed then, and is tried again; but a *success* that comes before
///   the next attempt starts still counts, and returns `true`. Any other answer after the deadline changes nothing, and
///   returns `false`; a ``MessageEvent`` tells of it.
/// - When the library has been shut down every answer returns `false`; the message is delivered again by the next
///   process.
///
/// It may be called from any thread or task, and never calls back.
///
/// - Source: the `completionHandler` of Kii's "Reception Handler" page and of UIKit.
public final class FetchCompletion: Sendable {
    private let channel: any AnswerChannel
    private let ticket: AnswerTicket

    package init(_ channel: any AnswerChannel, _ ticket: AnswerTicket) {
        self.channel = channel
        self.ticket = ticket
    }

    deinit { self.answer(.unanswered) }

    @discardableResult
    func answer(_ verdict: HandlerVerdict) -> Bool { self.channel.answer(self.ticket, verdict) }

    /// Answers with `result`.
    ///
    /// - Returns: whether the answer counts.
    @discardableResult
    public func callAsFunction(_ result: FetchResult) -> Bool { self.answer(.result(result)) }

    /// Refuses the message for good: it becomes a dead letter at once and is not tried again.
    ///
    /// - Parameter reason: why, for the person who looks at the dead letter. Kept with the message, cut to 500
    ///   Unicode scalars.
    /// - Returns: whether the answer counts.
    @discardableResult
    public func reject(_ reason: String) -> Bool { self.answer(.rejected(FetchCompletion.cut(reason))) }

    /// Leaves the message to a later run: it waits in the inbox, this attempt does not count, and its agent hands it to
    /// nobody until it is started anew. Other messages of the source go on, even with strict order.
    ///
    /// Only for an inbox in a file. An inbox in memory could not acknowledge any later message.
    @discardableResult
    package func setAside() -> Bool { self.answer(.setAside) }

    /// Answers with `result`, which counts if the store writes `work` with it.
    package func commit(_ result: FetchResult, with work: AnswerWork) -> Bool { self.answer(.committing(result, work)) }

    /// Answers for a handler that threw.
    ///
    /// - Parameter retryAfter: how long to wait at least until the next attempt. Default: as long as after any failure.
    @discardableResult
    package func fail(_ error: any Error, retryAfter: Duration? = nil) -> Bool {
        self.fail(because: String(describing: error), retryAfter: retryAfter)
    }

    /// Answers that the handler failed for a reason, as if it had thrown it.
    @discardableResult
    package func fail(because reason: String, retryAfter: Duration? = nil) -> Bool {
        self.answer(.threw(FetchCompletion.cut(reason), retryAfter: retryAfter))
    }

    /// Answers for a handler that could not be started, since the machine is short of what `reason` says: the message is
    /// handed over again, and this attempt does not count.
    ///
    /// - Parameter retryAfter: for how long no message is handed over, where the handler asks for that. Default: a second, and
    ///   as many go on being handled as are now.
    package func postpone(_ reason: String, retryAfter: Duration? = nil) {
        self.answer(.unstarted(reason, retryAfter: retryAfter))
    }

    /// By scalars: a single character may have any number of them.
    private static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(500)) }
}

/// A handler's answer to a message.
///
/// - Source: UIKit's `UIBackgroundFetchResult`, as Kii's "Reception Handler" page lists its cases.
public enum FetchResult: Sendable, Hashable, CaseIterable {
    /// "The new data was successfully processed." The message is done.
    case newData
    /// "The notification was successfully received but it did not contain data to process." The message is done.
    case noData
    /// "Processing of the data failed." The message is tried again, and becomes a dead letter when all attempts failed.
    case failed
}

/// The outcome of one attempt to deliver a message.
package enum HandlerVerdict: Sendable, Hashable {
    case result(FetchResult)
    /// The message is done once the store has written this work with it.
    case committing(FetchResult, AnswerWork)
    case rejected(String)
    /// `retryAfter`: the shortest wait until the next attempt.
    case threw(String, retryAfter: Duration? = nil)
    /// The handler released the completion without an answer.
    case unanswered
    /// No handler was called: a presenter shows the message to the user.
    case presented
    /// No handler was called: there is none for this message.
    case unreached
    /// No handler was called: none could be started, for this reason. `retryAfter`: the time for which no handler
    /// is to be called; `nil` if nothing named one.
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
