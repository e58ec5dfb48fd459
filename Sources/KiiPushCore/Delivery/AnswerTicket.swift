package protocol AnswerChannel: AnyObject, Sendable {
    /// - Returns: whether the answer counts.
    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool
}

/// What an answer is about: one attempt to deliver one message.
package struct AnswerTicket: Sendable, Hashable {
    package var sequence: Int64
    package var call = CallID(slot: 0, number: 0)
    package var position = 0
}
