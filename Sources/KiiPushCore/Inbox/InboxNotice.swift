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

    package init(path: String, reason: String, takenOver: Int, lost: Int?) {
        (self.path, self.reason, self.takenOver, self.lost) = (path, reason, takenOver, lost)
    }
}

extension InboxStatements {
    func readNotices() throws(InboxError) -> [InboxNotice] {
        try self.notices.all { row in
            InboxNotice(
                path: row.text(0) ?? "", reason: row.text(1) ?? "",
                takenOver: Int(clamping: row.integer(2, within: 0...(1 << 56))),
                lost: row.optionalInteger(3, within: 0...(1 << 56)).map { Int(clamping: $0) })
        }
    }
}
