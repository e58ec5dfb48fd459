import CSQLite

/// The durable inbox: keeps each acknowledged message until its delivery has ended, and for a time afterwards.
///
/// One SQLite file in WAL mode with `synchronous=FULL`: a committed transaction survives a power cut. Only one thread
/// at a time may use an inbox. Other processes may read the file at any time. The inbox remains usable after
/// ``InboxError/Kind/full``.
package final class Inbox {
    package struct Configuration: Sendable {
        package var isReadOnly = false
        /// The longest wait for another writer's lock, or for a process that replaces the file. A replacement waits ten
        /// times as long for processes that open the file.
        package var busyTimeout: Duration = .milliseconds(500)
        package var keepsDoneFor: Duration = .seconds(24 * 3600)
        package var keepsDoneBytes: Int64 = 64 << 20
        /// Dead letters that no handler may see may use half of this limit.
        package var keepsDead = InboxCounts.Tally(rows: 100_000, bytes: 256 << 20)
        package var sweepInterval: Duration = .seconds(60)
        /// `nil`: only the disk limits the file.
        package var maximumFileBytes: Int64?
        /// Only tests set this to false. A power cut can then lose commits.
        package var flushesCommits = true
        package var clocks = Clocks.machine

        package init() {}
    }

    package let configuration: Configuration
    let connection: SQLiteConnection
    let statements: InboxStatements
    /// The counts of the last commit; `pending` has the counts of the open transaction.
    private(set) var ledger: InboxLedger
    var pending: InboxLedger
    var pruning = InboxPruning()
    var log: InboxLog
    var refused = RefusedRows()
    package var shares = InboxShares.unlimited {
        didSet { if self.shares.logBytes != oldValue.logBytes { self.limitLog() } }
    }
    package private(set) var notices: [InboxNotice] = []
    private var dataVersion: Int64 = -1
    /// Rises at both ends of each transaction. An ``InboxTransaction`` keeps the number of its start, so its use after
    /// the end traps.
    private(set) var transactionNumber = 0

    /// Opens the file. Unless read-only, creates it if it is missing, and gives it mode 0600. The directory must exist.
    /// `path` may be `:memory:`.
    package init(path: String, configuration: Configuration = .init()) throws(InboxError) {
        self.configuration = configuration
        let isReadOnly = configuration.isReadOnly
        // Only a reader locks the directory: the one writer is the process that replaces files.
        let connection =
            try isReadOnly
            ? InboxNames.keep(of: path, within: configuration.busyTimeout) { () throws(InboxError) in
                try Inbox.connect(path, configuration)
            } : Inbox.connect(path, configuration)
        self.connection = connection
        self.log = InboxLog(path: path)
        self.statements = InboxStatements(connection)
        let ledger = try self.statements.readLedger()
        (self.ledger, self.pending) = (ledger, ledger)
        guard !isReadOnly else { return }
        let counts = try self.verify()
        try InboxMark(ofInboxAt: path)?.require(in: ledger)
        // A wrong number of bytes loses no message: the bytes only control back-pressure and pruning.
        if counts != ledger.counts { try self.transaction { _ in self.pending.counts = counts } }
        self.notices = try self.statements.readNotices()
        try connection.keepLogOnClose(false)
    }

    static func emptyDatabase() throws(InboxError) -> SQLiteConnection {
        try SQLiteConnection(path: ":memory:", flags: SQLITE_OPEN_READWRITE)
    }

    private static func connect(_ path: String, _ configuration: Configuration) throws(InboxError) -> SQLiteConnection {
        let isReadOnly = configuration.isReadOnly
        if path != ":memory:" {
            try InboxFile.requireRegular(path)
            if !isReadOnly {
                try InboxReplacement(of: path, patience: configuration.busyTimeout)
                    .finish(now: configuration.clocks.calendar)
            }
            try InboxFile.refuseEmptied(path)
            if !isReadOnly { try InboxFile.makePrivate(path) }
        }
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let connection = try SQLiteConnection(path: path, flags: access)
        try connection.setBusyTimeout(
            milliseconds: Int32(clamping: configuration.busyTimeout.wholeMillisecondsRoundedUp))
        // Until the file proves sound, closing must keep the write-ahead log: damage may hide a part of the log.
        try connection.keepLogOnClose(true)
        if !isReadOnly {
            let isNew = try InboxSchema.isNew(connection)
            // Checked before the first write: a file without its log may look new.
            if isNew { try InboxMark(ofInboxAt: path)?.require(in: InboxLedger()) }
            try Inbox.prepare(connection, configuration)
        }
        try InboxSchema.open(connection, isReadOnly: isReadOnly)
        return connection
    }

    /// `PRAGMA data_version` changes when another connection has committed.
    private func refreshLedger() throws(InboxError) {
        let version = try self.statements.dataVersion.first { $0.integer(0) } ?? 0
        guard version != self.dataVersion else { return }
        self.dataVersion = version
        self.ledger = try self.statements.readLedger()
        self.pending = self.ledger
        self.refused = RefusedRows()
    }

    private static func prepare(_ connection: SQLiteConnection, _ configuration: Configuration) throws(InboxError) {
        // auto_vacuum comes first: it has no effect after journal_mode=WAL has written the file's header.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL", step: "setting auto_vacuum")
        try connection.execute("PRAGMA journal_mode = WAL", step: "switching to a write-ahead log")
        // FULL flushes the log at each commit. With NORMAL a power cut would lose the last commits.
        let synchronous = configuration.flushesCommits ? "FULL" : "NORMAL"
        try connection.execute("PRAGMA synchronous = \(synchronous)", step: "setting synchronous")
        try connection.execute("PRAGMA journal_size_limit = 16777216", step: "limiting the write-ahead log")
        // Off: ``checkpointIfLong()`` writes the log into the file instead.
        try connection.execute("PRAGMA wal_autocheckpoint = 0", step: "limiting the write-ahead log")
        guard let maximum = configuration.maximumFileBytes else { return }
        let pageSize = try connection.integer("PRAGMA page_size", step: "reading the page size") ?? 4096
        let pages = max(1, maximum / pageSize)
        try connection.execute("PRAGMA max_page_count = \(pages)", step: "limiting the file's size")
    }

    func removeNotices() throws(InboxError) {
        // Cleared before the write, which may fail on a full disk: this process reports each notice once.
        self.notices = []
        try self.transaction { _ throws(InboxError) in try self.statements.removeNotices.run() }
    }

    /// After some errors SQLite has already rolled the transaction back.
    package var isInTransaction: Bool { !self.connection.isAutocommit }
    /// As of this connection's last transaction. Reads no file.
    package var counts: InboxCounts { self.ledger.counts }
    package var messageLedger: MessageLedger { self.ledger.summary }
    package func currentCounts() throws(InboxError) -> InboxCounts { try self.currentLedger().counts }
    func currentLedger() throws(InboxError) -> InboxLedger { try self.statements.readLedger() }

    /// Runs `body` in one transaction and commits it. When this returns, the changes are on the disk. If `body` or the
    /// commit throws, nothing has changed, and the caller may retry. Transactions do not nest.
    package func transaction<Result>(
        _ body: (InboxTransaction) throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        self.transactionNumber += 1
        defer { self.transactionNumber += 1 }
        do throws(InboxError) {
            try self.statements.begin.run()
            try self.refreshLedger()
            self.refused.removed = 0
            let result = try body(InboxTransaction(self))
            assert(
                self.pending.summary.unaccounted == self.ledger.summary.unaccounted,
                "a transaction has lost count of a message: \(self.pending.summary)")
            if self.pending != self.ledger {
                guard self.pending.isPlausible else { throw InboxError(.corrupt, step: "counting messages") }
                try self.statements.writeLedger(self.pending)
            }
            try self.statements.commit.run()
            self.ledger = self.pending
            self.checkpointIfLong()
            return result
        } catch {
            self.pending = self.ledger
            // The rollback restored removed rows, so the searches for rows to remove start again.
            (self.pruning, self.refused) = (InboxPruning(), RefusedRows())
            // The caller gets the first error, not an error of the rollback.
            if !self.connection.isAutocommit { try? self.statements.rollback.run() }
            throw error
        }
    }
}
