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

    deinit { _ = self.channel.answer(self.ticket, .unanswered) }

    /// Answers with `result`.
    ///
    /// - Returns: whether the answer counts.
    @discardableResult
    public func callAsFunction(_ result: FetchResult) -> Bool {
        self.channel.answer(self.ticket, .result(result))
    }

    /// Refuses the message for good: it becomes a dead letter at once and is not tried again.
    ///
    /// - Parameter reason: why, for the person who looks at the dead letter. Kept with the message, cut to 500
    ///   Unicode scalars.
    /// - Returns: whether the answer counts.
    @discardableResult
    public func reject(_ reason: String) -> Bool {
        self.channel.answer(self.ticket, .rejected(FetchCompletion.cut(reason)))
    }

    /// Leaves the message to a later run: it waits in the inbox, this attempt does not count, and its agent hands it to
    /// nobody until it is started anew. Other messages of the source go on, even with strict order.
    ///
    /// Only for an inbox in a file. An inbox in memory could not acknowledge any later message.
    ///
    /// - Returns: whether the answer counts.
    @discardableResult
    package func setAside() -> Bool {
        self.channel.answer(self.ticket, .setAside)
    }

    /// Answers for a handler that threw.
    package func fail(_ error: any Error) {
        _ = self.channel.answer(self.ticket, .threw(FetchCompletion.cut(String(describing: error))))
    }

    /// Answers for a handler that could not be started, since the machine is short of what that takes: the message is
    /// handed over again, and this attempt does not count.
    ///
    /// - Parameter reason: what could not be had.
    package func postpone(_ reason: String) {
        _ = self.channel.answer(self.ticket, .unstarted(reason))
    }

    /// By scalars: a single character may have any number of them.
    private static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(500)) }

    /// Answers for a route that showed the message instead of calling a handler.
    func present() {
        _ = self.channel.answer(self.ticket, .presented)
    }

    /// Answers for a route that leads to nobody.
    func reachNobody() {
        _ = self.channel.answer(self.ticket, .unreached)
    }
}
