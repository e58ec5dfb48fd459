import CSQLite

struct InboxLog {
    /// One page with its header in the write-ahead log (SQLite's file format, section 4.1).
    private static let frameBytes: Int64 = 4096 + 24

    /// Approximate bytes of the log that are not in the database file yet.
    private(set) var bytes: Int64 = 0
    private var length: Int64 = 0
    /// If readers blocked the last checkpoint's truncation, the log's length at that time; otherwise 0.
    private var vainLength: Int64 = 0
    var failure: InboxError?

    init(path: String) { self.bytes = Int64(InboxFile.size(of: path + "-wal")) }
    mutating func grow(byPages pages: Int64) { self.bytes += pages * InboxLog.frameBytes }

    /// Whether to truncate the log: its length is four times `limit` and, if readers blocked the last truncation, has
    /// doubled since.
    func hasOutgrown(_ limit: Int64) -> Bool { self.length >= max(4 * limit, 2 * self.vainLength) }

    mutating func wasWritten(frames: Int32, written: Int32, inVain: Bool) {
        self.length = Int64(max(frames, 0)) * InboxLog.frameBytes
        self.bytes = frames == written ? 0 : self.length
        self.vainLength = inVain ? self.length : 0
        self.failure = nil
    }
}

extension Inbox {
    /// Writes the log into the file if the log is longer than ``InboxShares/logBytes``. SQLite's automatic checkpoint
    /// has only a fixed limit. After a failure, ``InboxLog/failure`` has the error, and the transactions in the log are
    /// safe.
    func checkpointIfLong() {
        self.log.grow(byPages: self.connection.pagesWritten())
        let limit = self.shares.logBytes
        guard self.log.bytes >= limit else { return }
        let waits = self.log.hasOutgrown(limit)
        do throws(InboxError) { try self.writeLog(emptying: waits) } catch { self.log.failure = error }
    }

    func limitLog() {
        let limit = self.shares.transactionBytes == nil ? 16 << 20 : 2 * self.shares.logBytes
        try? self.connection.execute("PRAGMA journal_size_limit = \(limit)", step: "limiting the write-ahead log")
    }

    /// Writes the log into the file. With `empties`, waits for readers and truncates the log.
    ///
    /// A reader can block this while the log grows and fills the disk. In that case the file is lengthened at once, so
    /// that the log can be written later.
    func writeLog(emptying empties: Bool) throws(InboxError) {
        let result = try self.connection.checkpoint(empties ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE)
        self.log.wasWritten(frames: result.frames, written: result.written, inVain: empties && result.isBusy)
        guard result.isBusy || result.written < result.frames else { return }
        try self.connection.lengthenFile(by: self.shares.transactionBytes ?? InboxShares.mostInScarcity)
    }
}
