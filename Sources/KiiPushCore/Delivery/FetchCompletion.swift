/// Takes a handler's answer to one message.
///
/// - Call it once, within 30 seconds. The first call that counts returns `true`; any other returns `false` and changes
///   nothing.
/// - Releasing it without an answer counts as ``FetchResult/failed``.
/// - At the deadline the attempt fails, and delivery retries the message. A *success* that comes before the next
///   attempt starts still counts, and returns `true`. Any other answer after the deadline changes nothing, and returns
///   `false`; a ``MessageEvent`` reports it.
/// - After the library has shut down, every answer returns `false`; the next process delivers the message again.
///
/// Any thread or task may call it. It never calls back.
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
    /// - Parameter reason: the explanation for the person who looks at the dead letter. The inbox keeps it with the
    ///   message, cut to 500 Unicode scalars.
    /// - Returns: whether the answer counts.
    @discardableResult
    public func reject(_ reason: String) -> Bool { self.answer(.rejected(FetchCompletion.cut(reason))) }

    /// Leaves the message to a later run. It waits in the inbox, this attempt does not count, and its agent does not
    /// deliver it before a restart. Other messages of the source go on, even with strict order.
    ///
    /// Only for an inbox in a file. An inbox in memory could not acknowledge any later message.
    @discardableResult
    package func setAside() -> Bool { self.answer(.setAside) }

    /// Answers with `result`. The answer counts if the store writes `work` with it.
    package func commit(_ result: FetchResult, with work: AnswerWork) -> Bool { self.answer(.committing(result, work)) }

    /// Answers for a handler that threw.
    ///
    /// - Parameter retryAfter: the shortest pause before the next attempt. Default: the pause after any failure.
    @discardableResult
    package func fail(_ error: any Error, retryAfter: Duration? = nil) -> Bool {
        self.fail(because: String(describing: error), retryAfter: retryAfter)
    }

    /// Answers that the handler failed for `reason`, as if it had thrown it.
    @discardableResult
    package func fail(because reason: String, retryAfter: Duration? = nil) -> Bool {
        self.answer(.threw(FetchCompletion.cut(reason), retryAfter: retryAfter))
    }

    /// Answers that the handler could not be started: the machine lacks what `reason` names. Delivery hands the message
    /// over again, and this attempt does not count.
    ///
    /// - Parameter retryAfter: how long delivery starts no handler, if the handler asks for that. Default: for a
    ///   second, delivery runs no more handlers than now.
    package func postpone(_ reason: String, retryAfter: Duration? = nil) {
        self.answer(.unstarted(reason, retryAfter: retryAfter))
    }

    /// Cuts by scalars: a single character may have any number of them.
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

package enum HandlerVerdict: Sendable, Hashable {
    case result(FetchResult)
    /// The message is done once the store has written this work with it.
    case committing(FetchResult, AnswerWork)
    case rejected(String)
    /// `retryAfter`: the shortest pause before the next attempt.
    case threw(String, retryAfter: Duration? = nil)
    /// The handler released the completion without an answer.
    case unanswered
    /// No handler was called: a presenter shows the message to the user.
    case presented
    /// No handler was called: there is none for this message.
    case unreached
    /// No handler was called: none could be started, for this reason. `retryAfter`: how long delivery calls no handler;
    /// `nil` if nothing named a time.
    case unstarted(String, retryAfter: Duration? = nil)
    /// The handler leaves the message to a later run, and this attempt does not count.
    case setAside

    /// Whether the handler has finished with the message for this run, as far as is known at once.
    var isSuccess: Bool {
        switch self {
        case .result(.newData), .result(.noData), .unreached, .setAside: true
        case .result(.failed), .committing, .rejected, .threw, .unanswered, .presented, .unstarted: false
        }
    }
}
