/// What became of a damaged file. It stays in the new file until an agent has told it.
package struct InboxNotice: Equatable {
    /// The name under which what was left of the file is kept.
    package var path: String
    /// What was wrong with it.
    package var reason: String
    /// How many messages were taken over.
    package var takenOver: Int
    /// How many were lost; `nil` when that is not known.
    package var lost: Int?
}

extension InboxStatements {
    func readNotices() throws(InboxError) -> [InboxNotice] {
        let statement = self.notices
        defer { statement.reset() }
        var notices: [InboxNotice] = []
        while try statement.next() {
            notices.append(
                InboxNotice(
                    path: statement.text(0) ?? "", reason: statement.text(1) ?? "",
                    takenOver: Int(clamping: statement.integer(2, within: 0...(1 << 56))),
                    lost: statement.isNull(3) ? nil : Int(clamping: statement.integer(3, within: 0...(1 << 56)))))
        }
        return notices
    }
}

extension InboxTransaction {
    func add(_ notice: InboxNotice) throws(InboxError) {
        let statement = self.statements.addNotice
        try statement.bind(1, notice.path)
        try statement.bind(2, notice.reason)
        try statement.bind(3, Int64(notice.takenOver))
        try statement.bind(4, notice.lost.map(Int64.init))
        try statement.run()
    }

    func removeNotices() throws(InboxError) { try self.statements.removeNotices.run() }
}
