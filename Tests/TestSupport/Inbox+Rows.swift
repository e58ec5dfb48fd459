package import KiiPushCore

extension Inbox {
    /// Rows of one state, whatever their installation, in the order of reception.
    package func rows(_ state: RowState, after sequence: Int64 = 0, limit: Int) throws(InboxError) -> [StoredMessage] {
        var rows: [StoredMessage] = []
        for sequence in try self.sequences([state], after: sequence, limit: limit) {
            if let row = try self.row(sequence) { rows.append(row) }
        }
        return rows
    }
}
