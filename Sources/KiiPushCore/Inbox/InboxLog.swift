import CSQLite

struct InboxLog {
    /// A page in the log, with its header (SQLite's file format, section 4.1).
    private static let frameBytes: Int64 = 4096 + 24

    /// The approximate bytes of the log that are not in the file yet.
    private(set) var bytes: Int64 = 0
    /// The length of the log when it was last written into the file.
    private var length: Int64 = 0
    /// The length of the log at the last attempt to empty it, if that waited for readers in vain.
    private var vainLength: Int64 = 0
    var failure: InboxError?

    /// The log of the inbox at `path`, as an earlier process left it.
    init(path: String) { self.bytes = Int64(InboxFile.size(of: path + "-wal")) }
    mutating func grow(byPages pages: Int64) { self.bytes += pages * InboxLog.frameBytes }

    /// Whether to wait for readers: at four times the limit and, after an attempt in vain, at twice the length.
    func hasOutgrown(_ limit: Int64) -> Bool { self.length >= max(4 * limit, 2 * self.vainLength) }

    mutating func wasWritten(frames: Int32, written: Int32, inVain: Bool) {
        self.length = Int64(max(frames, 0)) * InboxLog.frameBytes
        self.bytes = frames == written ? 0 : self.length
        self.vainLength = inVain ? self.length : 0
        self.failure = nil
    }
}

extension Inbox {
    /// Writes the log into the file when it is longer than ``InboxShares/logBytes``. SQLite itself would do so at a
    /// fixed length. ``InboxLog/failure`` has the error of a failure: the transactions in the log are safe.
    func keepLogShort() {
        self.log.grow(byPages: self.connection.pagesWritten())
        let limit = self.shares.logBytes
        guard self.log.bytes >= limit else { return }
        let waits = self.log.hasOutgrown(limit)
        do throws(InboxError) { try self.writeLog(emptying: waits) } catch { self.log.failure = error }
    }

    /// Sets the length to which SQLite cuts the log when it begins anew after it had to grow.
    func limitLog() {
        let limit = self.shares.transactionBytes == nil ? 16 << 20 : 2 * self.shares.logBytes
        // A log that is not cut is only longer than it should be.
        try? self.connection.execute("PRAGMA journal_size_limit = \(limit)", step: "limiting the write-ahead log")
    }

    /// With `empties`, waits for readers, and then cuts the log off.
    ///
    /// The log grows while a reader keeps it out of the file, and may take all the room on the disk. So the file takes
    /// the room at once that it needs for the log and the next transaction. Later there may be none.
    func writeLog(emptying empties: Bool) throws(InboxError) {
        let result = try self.connection.checkpoint(empties ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE)
        self.log.wasWritten(frames: result.frames, written: result.written, inVain: empties && result.isBusy)
        guard result.isBusy || result.written < result.frames else { return }
        try self.connection.lengthenFile(by: self.shares.transactionBytes ?? InboxShares.mostInScarcity)
    }
}
