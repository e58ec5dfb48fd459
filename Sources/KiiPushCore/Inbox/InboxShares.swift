/// How an inbox shares out the room on its disk: what is free and what its own files take.
/// On a disk with less than 64 MiB of room every share is a fraction of it, so that no kind of message can take the
/// room that the others need. A row's bytes (``InboxCounts/bytes(topic:payload:)``) may take twice as many in the file.
package struct InboxShares: Sendable, Hashable {
    /// The least room that an inbox works in.
    package static let leastRoom: Int64 = 2 << 20
    private static let leastLog: Int64 = 64 << 10
    // As many pages as SQLite lets a log grow to by default, 1,000 of 4 KiB.
    private static let mostLog: Int64 = 1000 * 4096
    // The largest message, the log of its transaction and that of a few small ones.
    static let leastReserve: Int64 = 512 << 10

    /// How long the log may get before it is written into the file.
    package private(set) var logBytes: Int64
    /// How large the file beside the inbox is that a full disk is given back. Writing the log into the file may need as
    /// much as the log holds, which is ``logBytes`` and one transaction. What is removed then needs a log of its own.
    package var reserveBytes: Int64 { max(3 * self.logBytes, InboxShares.leastReserve) }
    /// How much one transaction should write; `nil`: as much as there is.
    package var transactionBytes: Int64? { self.logBytes < InboxShares.mostLog ? self.logBytes / 2 : nil }
    package let doneBytes: Int64
    package let waitingBytes: Int64
    package let deadBytes: Int64

    package init(of room: Int64) {
        self.logBytes = (room / 16).held(to: InboxShares.leastLog...InboxShares.mostLog)
        (self.doneBytes, self.waitingBytes, self.deadBytes) = (room / 8, room / 4, room / 8)
    }

    /// Keeps the log as short as a smaller reserve allows.
    mutating func limitLog(toReserve bytes: Int64) { self.logBytes = min(self.logBytes, bytes / 3) }

    /// How much one transaction should write where there is no room for the reserve.
    package static let mostInScarcity: Int64 = InboxShares.mostLog / 2
    /// Where the room is not known, or is no matter.
    package static let unlimited = InboxShares(of: .max)
}
