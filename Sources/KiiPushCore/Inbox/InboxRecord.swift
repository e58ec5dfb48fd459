/// Everything that the inbox knows about one message.
package struct InboxRecord: Sendable, Hashable {
    package var row: StoredRow
    /// The ID of the installation that received it; `nil` if that is unknown.
    package var installationID: String?
    /// When the transaction that stored it began; `nil` when that is not known.
    package var storedAt: Timestamp?
    /// When it was acknowledged; `nil` if it was not, or if the process ended before that was written.
    package var acknowledgedAt: Timestamp?
    /// When the attempt that succeeded started; `nil` for a row that is not done, and where it is not known.
    package var startedAt: Timestamp?
    /// What the attempt that succeeded came to.
    package var answer: RowAnswer?
    /// What else happened.
    package var trail: [RowTrail.Entry]
    /// Whether ``trail`` holds all that happened to it: it is cut at ``RowTrail/limit``.
    package var isTrailWhole: Bool
}

extension Inbox {
    /// Everything about the row with this number.
    package func record(_ sequence: Int64) throws(InboxError) -> InboxRecord? {
        let statement = self.statements.record
        defer { statement.reset() }
        try statement.bind(1, sequence)
        guard try statement.next() else { return nil }
        let row = try StoredRow(readingFrom: statement)
        let receivedAt = row.message.receivedAt
        func moment(_ column: Int32) -> Timestamp? {
            statement.optionalInteger(column).map { (receivedAt + .milliseconds($0)).held(to: InboxSchema.calendar) }
        }
        let text = statement.text(23) ?? ""
        let reading = RowTrail.read(text, receivedAt: receivedAt)
        return InboxRecord(
            row: row,
            installationID: statement.text(24),
            storedAt: moment(19),
            acknowledgedAt: moment(20),
            startedAt: moment(21),
            answer: statement.optionalInteger(22).flatMap(RowAnswer.init),
            trail: reading.entries,
            isTrailWhole: reading.isWhole && text.utf8.count < RowTrail.limit
        )
    }

    /// The last number that was given out; 0 when none was.
    package func lastSequence() throws(InboxError) -> Int64 { try self.statements.readLedger().lastSequence }
}
