import CSQLite

/// The durable inbox: it keeps every acknowledged message until it has been handled, and a while longer.
///
/// It is one SQLite file in WAL mode with `synchronous=FULL`: a transaction that has returned survives a power cut. The
/// inbox has no lock, and belongs to the thread that opened it. Another process may read the file at any time. After
/// ``InboxError/Kind/full`` the inbox goes on working.
package final class Inbox {
    package struct Configuration: Sendable {
        /// If true, any write throws ``InboxError/Kind/notPermitted``.
        package var isReadOnly = false
        /// The longest wait for another writer's lock, or for a process that opens or replaces the file.
        package var busyTimeout: Duration = .milliseconds(500)
        package var keepsDoneFor: Duration = .seconds(24 * 3600)
        package var keepsDoneBytes: Int64 = 64 << 20
        /// Refused messages may be half of these rows, and have half of the bytes.
        package var keepsDeadRows: Int64 = 100_000
        package var keepsDeadBytes: Int64 = 256 << 20
        package var sweepInterval: Duration = .seconds(60)
        /// `nil`: only the disk limits the file.
        package var maximumFileBytes: Int64?
        /// False in tests of the loss without flushing.
        package var flushesCommits = true
        package var clocks = Clocks.machine

        package init() {}
    }

    package let configuration: Configuration
    let connection: SQLiteConnection
    let statements: InboxStatements
    /// The committed counts. `pending` has the open transaction's.
    private(set) var ledger: InboxLedger
    var pending: InboxLedger
    var pruning = InboxPruning()
    var log: InboxLog
    var refused = RefusedRows()
    package var shares = InboxShares.unlimited {
        didSet { if self.shares.logBytes != oldValue.logBytes { self.limitLog() } }
    }
    /// Notices of damaged files that no agent has told yet.
    package private(set) var notices: [InboxNotice] = []
    private var dataVersion: Int64 = -1
    /// Rises at the beginning and at the end of each transaction, so that a transaction traps when it is used later.
    private(set) var transactionNumber = 0

    /// Opens the file, or makes it with mode 0600; the directory must exist. `path` may be `:memory:`.
    package init(path: String, configuration: Configuration = .init()) throws(InboxError) {
        self.configuration = configuration
        let isReadOnly = configuration.isReadOnly
        // Only a reader has to keep the names: a writer replaces the file itself.
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
        // The bytes only steer how much is read from the network: a wrong number loses nothing.
        if counts != ledger.counts { try self.transaction { _ in self.pending.counts = counts } }
        self.notices = try self.statements.readNotices()
        try connection.keepLogOnClose(false)
    }

    /// A database in memory, without tables.
    static func emptyDatabase() throws(InboxError) -> SQLiteConnection {
        try SQLiteConnection(path: ":memory:", flags: SQLITE_OPEN_READWRITE)
    }

    /// Opens the file with its log and the log's index.
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
        // Until the file proves sound, closing leaves the log: damage may hide a part of it.
        try connection.keepLogOnClose(true)
        if !isReadOnly {
            let isNew = try InboxSchema.isNew(connection)
            // Before anything is written: without its log a file may look new.
            if isNew { try InboxMark(ofInboxAt: path)?.require(in: InboxLedger()) }
            try Inbox.prepare(connection, configuration)
        }
        try InboxSchema.open(connection, isReadOnly: isReadOnly)
        return connection
    }

    /// "The integer values returned by two invocations of PRAGMA data_version from the same connection will be
    /// different if changes were committed to the database by any other connection in the interim."
    private func readLedgerIfOthersWrote() throws(InboxError) {
        let version = try self.statements.dataVersion.first { $0.integer(0) } ?? 0
        guard version != self.dataVersion else { return }
        self.dataVersion = version
        self.ledger = try self.statements.readLedger()
        self.pending = self.ledger
        self.refused = RefusedRows()
    }

    private static func prepare(_ connection: SQLiteConnection, _ configuration: Configuration) throws(InboxError) {
        // auto_vacuum has an effect before the first table only; journal_mode=WAL creates the file's header.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL", step: "setting auto_vacuum")
        try connection.execute("PRAGMA journal_mode = WAL", step: "switching to a write-ahead log")
        // FULL: the log is flushed at each commit. NORMAL would lose the last commits with the power.
        let synchronous = configuration.flushesCommits ? "FULL" : "NORMAL"
        try connection.execute("PRAGMA synchronous = \(synchronous)", step: "setting synchronous")
        try connection.execute("PRAGMA journal_size_limit = 16777216", step: "limiting the write-ahead log")
        // See ``keepLogShort()``.
        try connection.execute("PRAGMA wal_autocheckpoint = 0", step: "limiting the write-ahead log")
        guard let maximum = configuration.maximumFileBytes else { return }
        let pageSize = try connection.integer("PRAGMA page_size", step: "reading the page size") ?? 4096
        let pages = max(1, maximum / pageSize)
        try connection.execute("PRAGMA max_page_count = \(pages)", step: "limiting the file's size")
    }

    func removeNotices() throws(InboxError) {
        // This process tells them only once, even if the disk is full.
        self.notices = []
        try self.transaction { _ throws(InboxError) in try self.statements.removeNotices.run() }
    }

    /// Whether a transaction is open. After some errors SQLite has rolled it back by itself.
    package var isInTransaction: Bool { !self.connection.isAutocommit }
    /// The rows by state, as of this connection's last commit. Free.
    package var counts: InboxCounts { self.ledger.counts }
    /// The same counts, with messages that are gone.
    package var messageLedger: MessageLedger { self.ledger.summary }
    /// Reads the counts, with other processes' commits.
    package func currentCounts() throws(InboxError) -> InboxCounts { try self.currentLedger().counts }
    func currentLedger() throws(InboxError) -> InboxLedger { try self.statements.readLedger() }

    /// Runs `body` in one transaction and commits it; when this returns, all of it is on the disk. If `body` or the
    /// commit fails, nothing has changed, and the caller may try again. Transactions do not nest.
    package func transaction<Result>(
        _ body: (InboxTransaction) throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        self.transactionNumber += 1
        defer { self.transactionNumber += 1 }
        do throws(InboxError) {
            try self.statements.begin.run()
            try self.readLedgerIfOthersWrote()
            self.refused.removed = 0
            let result = try body(InboxTransaction(self))
            assert(
                self.pending.summary.unaccounted == self.ledger.summary.unaccounted,
                "a transaction has lost count of a message: \(self.pending.summary)")
            if self.pending != self.ledger {
                // An implausible count: the changed rows are not the counted ones.
                guard self.pending.isPlausible else { throw InboxError(.corrupt, step: "counting messages") }
                try self.statements.writeLedger(self.pending)
            }
            try self.statements.commit.run()
            self.ledger = self.pending
            self.keepLogShort()
            return result
        } catch {
            self.pending = self.ledger
            // Removed rows are back.
            (self.pruning, self.refused) = (InboxPruning(), RefusedRows())
            // The caller gets the first error.
            if !self.connection.isAutocommit { try? self.statements.rollback.run() }
            throw error
        }
    }
}
