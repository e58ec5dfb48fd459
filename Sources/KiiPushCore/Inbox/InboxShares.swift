/// Limits for the parts of an inbox, as shares of the disk's free space plus the inbox's own files. A row may occupy
/// twice its counted bytes in the file.
package struct InboxShares: Sendable, Hashable {
    /// The room that an inbox needs, as the advice about a full disk states it. Nothing enforces this limit.
    package static let leastRoom: Int64 = 2 << 20
    private static let leastLog: Int64 = 64 << 10
    // SQLite's default for the length of a log: 1,000 pages of 4 KiB.
    private static let mostLog: Int64 = 1000 * 4096
    // Enough for the largest message, its log, and the log of a few small transactions.
    static let leastReserve: Int64 = 512 << 10

    package private(set) var logBytes: Int64
    /// Room to write the log and one transaction into the inbox, and for a new log, in which transactions remove rows.
    package var reserveBytes: Int64 { max(3 * self.logBytes, InboxShares.leastReserve) }
    /// The most bytes that one transaction should write; `nil`: no limit.
    package var transactionBytes: Int64? { self.logBytes < InboxShares.mostLog ? self.logBytes / 2 : nil }
    /// The most bytes of done rows, unless ``Inbox/Configuration/keepsDoneBytes`` is lower.
    package let doneBytes: Int64
    /// The most bytes of waiting messages. Above it, an agent stops reading from its broker.
    package let waitingBytes: Int64
    /// The most bytes of dead letters, unless ``Inbox/Configuration/keepsDead`` has fewer.
    package let deadBytes: Int64

    package init(of room: Int64) {
        self.logBytes = (room / 16).held(to: InboxShares.leastLog...InboxShares.mostLog)
        (self.doneBytes, self.waitingBytes, self.deadBytes) = (room / 8, room / 4, room / 8)
    }

    mutating func limitLog(toReserve bytes: Int64) { self.logBytes = min(self.logBytes, bytes / 3) }

    /// The most bytes that one transaction should write without a reserve, if ``transactionBytes`` is `nil`.
    package static let mostInScarcity: Int64 = InboxShares.mostLog / 2
    /// For a disk whose free space is unknown or does not matter.
    package static let unlimited = InboxShares(of: .max)
}
