/// Receives a handler's answer to one message.
///
/// - Call it once, within 30 seconds. The first call that counts returns `true`; any other returns `false` and changes
///   nothing.
/// - Releasing it without an answer fails the attempt.
/// - At the deadline the attempt fails. A later *success* may still count, until the next attempt starts. A late answer
///   that does not count returns `false`, and a ``MessageEvent`` reports it.
/// - After the library has shut down, every answer returns `false`. The next process delivers the message again.
///
/// Any thread or task may call it.
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

    /// Answers with `result`. Returns whether the answer counts.
    @discardableResult
    public func callAsFunction(_ result: FetchResult) -> Bool { self.answer(.result(result)) }

    /// Refuses the message for good: it becomes a dead letter without a retry.
    ///
    /// - Parameter reason: an explanation for the person who reads the dead letter, cut to 500 Unicode scalars.
    /// - Returns: whether the answer counts.
    @discardableResult
    public func reject(_ reason: String) -> Bool { self.answer(.rejected(FetchCompletion.cut(reason))) }

    /// Leaves the message to a later run of the agent; this attempt does not count. Later messages are delivered, even
    /// with strict order. Only for an inbox in a file: an inbox in memory could acknowledge no later message.
    @discardableResult
    package func setAside() -> Bool { self.answer(.setAside) }

    /// Answers with `result`. The answer counts if the store writes `work` in the same transaction.
    package func commit(_ result: FetchResult, with work: AnswerWork) -> Bool { self.answer(.committing(result, work)) }

    /// `retryAfter`: the shortest pause before the next attempt.
    @discardableResult
    package func fail(_ error: any Error, retryAfter: Duration? = nil) -> Bool {
        self.fail(because: String(describing: error), retryAfter: retryAfter)
    }

    @discardableResult
    package func fail(because reason: String, retryAfter: Duration? = nil) -> Bool {
        self.answer(.threw(FetchCompletion.cut(reason), retryAfter: retryAfter))
    }

    /// Reports that the handler could not be started. Delivery repeats the attempt, and does not count it. For the time
    /// `retryAfter`, delivery starts no handler. Without `retryAfter`, at most as many handlers as now run during the
    /// next second.
    package func postpone(_ reason: String, retryAfter: Duration? = nil) {
        self.answer(.unstarted(reason, retryAfter: retryAfter))
    }

    /// Cuts by scalars, since one character may have any number of them.
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
    case committing(FetchResult, AnswerWork)
    case rejected(String)
    case threw(String, retryAfter: Duration? = nil)
    case unanswered
    case presented
    /// Neither a handler nor the user gets the message.
    case unreached
    case unstarted(String, retryAfter: Duration? = nil)
    case setAside

    /// Whether a worker may go on to the next message of its call at once.
    var isSuccess: Bool {
        switch self {
        case .result(.newData), .result(.noData), .unreached, .setAside: true
        case .result(.failed), .committing, .rejected, .threw, .unanswered, .presented, .unstarted: false
        }
    }
}
