import CSQLite
import Glibc

/// The durable inbox: every message that was acknowledged, until it has been handled and a while longer.
///
/// One SQLite file in WAL mode with `synchronous=FULL`, so a transaction that has returned survives a power cut. A
/// plain class without a lock: it belongs to the thread that opened it, the event loop's. Everything a turn has to
/// write goes into one ``transaction(_:)``. Another process may open the same file with
/// ``Configuration/isReadOnly`` at any time.
/// Every operation may throw an ``InboxError``; after ``InboxError/Kind/full`` the inbox goes on working.
package final class Inbox {
    package struct Configuration: Sendable {
        /// Reads a file that another process may be holding; any write is a ``InboxError/Kind/notPermitted``.
        package var isReadOnly = false
        /// How long to wait for another connection's lock. Writers exclude each other, readers disturb nobody.
        package var busyTimeout: Duration = .milliseconds(500)
        /// How long done rows are kept.
        package var keepsDoneFor: Duration = .seconds(24 * 3600)
        /// How many bytes of done rows are kept.
        package var keepsDoneBytes: Int64 = 64 << 20
        /// How often the rows are looked through for old ones.
        package var sweepInterval: Duration = .seconds(60)
        /// The most that the file may grow to, in bytes; `nil` leaves it to the disk.
        package var maximumFileBytes: Int64?

        package init() {}
    }

    package let configuration: Configuration
    let connection: SQLiteConnection
    let statements: InboxStatements
    /// Committed counts, and the open transaction's.
    private var ledger: InboxLedger
    var pending: InboxLedger
    var pruning = InboxPruning()
    private var dataVersion: Int64 = -1
    /// Rises at the beginning and at the end of each transaction, so that none outlives itself.
    private(set) var transactionNumber = 0

    /// Opens the file, or makes it with mode 0600. The directory must exist and is left as it is.
    ///
    /// `path` is a file, or `:memory:`.
    ///
    /// - Throws: ``InboxError``: `corrupt` for a damaged file or one that is no inbox, `newerVersion`, and whatever
    ///   SQLite meets while opening.
    package init(path: String, configuration: Configuration = .init()) throws(InboxError) {
        self.configuration = configuration
        if path != ":memory:", !configuration.isReadOnly {
            try InboxReplacement(of: path).finish(now: .now())
            try InboxFile.makePrivate(path)
        }
        let access = configuration.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let connection = try SQLiteConnection(path: path, flags: access)
        try connection.setBusyTimeout(
            milliseconds: Int32(clamping: configuration.busyTimeout.wholeMillisecondsRoundedUp))
        if !configuration.isReadOnly {
            try InboxSchema.refuseWhatIsNotOurs(connection)
            try Inbox.prepare(connection, configuration)
        }
        try InboxSchema.open(connection, isReadOnly: configuration.isReadOnly)
        self.connection = connection
        self.statements = InboxStatements(connection)
        let ledger = try self.statements.readLedger()
        self.ledger = ledger
        self.pending = ledger
    }

    /// "The integer values returned by two invocations of PRAGMA data_version from the same connection will be different
    /// if changes were committed to the database by any other connection in the interim."
    private func readLedgerIfOthersWrote() throws(InboxError) {
        let version = try self.statements.readDataVersion()
        guard version != self.dataVersion else { return }
        self.dataVersion = version
        self.ledger = try self.statements.readLedger()
        self.pending = self.ledger
    }

    private static func prepare(
        _ connection: SQLiteConnection, _ configuration: Configuration
    ) throws(InboxError) {
        // auto_vacuum has an effect before the first table only; journal_mode=WAL creates the file's header.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL", step: "setting auto_vacuum")
        try connection.execute("PRAGMA journal_mode = WAL", step: "switching to a write-ahead log")
        // FULL: the log is flushed at each commit. NORMAL would lose the last commits with the power.
        try connection.execute("PRAGMA synchronous = FULL", step: "setting synchronous")
        try connection.execute("PRAGMA journal_size_limit = 16777216", step: "limiting the write-ahead log")
        guard let maximum = configuration.maximumFileBytes else { return }
        let pageSize = try connection.integer("PRAGMA page_size", step: "reading the page size") ?? 4096
        try connection.execute(
            "PRAGMA max_page_count = \(max(1, maximum / pageSize))", step: "limiting the file's size")
    }

    /// What the file counts, as of this connection's last commit.
    var committedLedger: InboxLedger { self.ledger }

    /// Whether a transaction is open. After some errors SQLite has rolled it back by itself.
    package var isInTransaction: Bool { !self.connection.isAutocommit }

    /// How many rows stand where, as of this connection's last commit. Free.
    package var counts: InboxCounts { self.ledger.counts }

    /// What has become of every message, as of this connection's last commit. Free.
    package var messageLedger: MessageLedger { self.ledger.summary }

    /// How many rows stand where now, other processes' commits included.
    package func currentCounts() throws(InboxError) -> InboxCounts { try self.statements.readLedger().counts }

    /// What has become of every message until now, other processes' commits included.
    package func currentMessageLedger() throws(InboxError) -> MessageLedger {
        try self.statements.readLedger().summary
    }

    /// Runs `body` in one transaction and commits it; when this returns, all of it is on the disk.
    ///
    /// If `body` or the commit fails, nothing of it has happened, and the same work may be tried again.
    /// Transactions do not nest.
    package func transaction<Result>(
        _ body: (InboxTransaction) throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        self.transactionNumber += 1
        defer { self.transactionNumber += 1 }
        do throws(InboxError) {
            try self.statements.begin.run()
            try self.readLedgerIfOthersWrote()
            let result = try body(InboxTransaction(self))
            assert(
                self.pending.summary.unaccounted == self.ledger.summary.unaccounted,
                "a transaction has lost count of a message: \(self.pending.summary)")
            if self.pending != self.ledger { try self.statements.writeLedger(self.pending) }
            try self.statements.commit.run()
            self.ledger = self.pending
            return result
        } catch {
            self.pending = self.ledger
            self.pruning.restart()
            // Losing this second error is right: the first one is what failed, and after some errors SQLite has
            // rolled back already.
            if !self.connection.isAutocommit { try? self.statements.rollback.run() }
            throw error
        }
    }
}
