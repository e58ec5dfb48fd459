package protocol AnswerChannel: AnyObject, Sendable {
    /// - Returns: whether the answer counts.
    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool
}

package struct AnswerTicket: Sendable, Hashable {
    package var sequence: Int64
    package var call: CallID
    package var position: Int

    package init(sequence: Int64, call: CallID = CallID(slot: 0, number: 0), position: Int = 0) {
        self.sequence = sequence
        self.call = call
        self.position = position
    }
}
