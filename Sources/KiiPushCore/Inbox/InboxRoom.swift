import Glibc

/// The free space on an inbox's disk, as last measured. The inbox stores messages only while a reserve file exists.
/// Writes that make room may use the reserve's space.
package struct InboxRoom {
    private static let checkInterval: Duration = .seconds(60)

    private let path: String
    /// A file beside the inbox that only occupies space. Deleting it makes room on a full disk.
    private let reserve: String
    private let clocks: Clocks
    private let freeBytes: (String) -> Int64?
    private var checkedAt: MonotonicInstant
    package private(set) var shares = InboxShares.unlimited
    package private(set) var hasReserve = false

    /// Creates the reserve if `makesReserve` is true and the disk has room. `freeBytes` returns the bytes that this
    /// user may still write; `nil` if unknown.
    package init(
        of path: String, clocks: Clocks = .machine, makesReserve: Bool = true,
        freeBytes: @escaping (String) -> Int64? = InboxRoom.freeBytes(at:)
    ) {
        (self.path, self.reserve) = (path, path + "-reserve")
        (self.clocks, self.freeBytes) = (clocks, freeBytes)
        self.checkedAt = clocks.monotonic()
        self.measure()
        if makesReserve { self.check() }
    }

    package static func shares(of path: String) -> InboxShares { InboxRoom(of: path, makesReserve: false).shares }

    package mutating func checkIfDue() {
        guard !self.hasReserve || self.clocks.monotonic() - self.checkedAt > InboxRoom.checkInterval else { return }
        self.check()
    }

    package mutating func check() {
        self.checkedAt = self.clocks.monotonic()
        let free = self.measure()
        let (reserved, needed) = (self.reserveBytes, self.shares.reserveBytes)
        // The reserve is created or enlarged only if twice the log's limit stays free. A reserve of more than twice the
        // needed size shrinks.
        let canGrow = reserved < needed && free + reserved >= needed + 2 * self.shares.logBytes
        if canGrow || reserved > 2 * needed {
            self.allocateReserve(needed)
        }
        let standing = self.reserveBytes
        self.hasReserve = standing >= InboxShares.leastReserve
        if self.hasReserve { self.shares.limitLog(toReserve: standing) }
    }

    @discardableResult
    private mutating func measure() -> Int64 {
        // If the free space is unknown, only a failed write shows that the disk is full.
        let free = self.freeBytes(self.path) ?? .max / 2
        let files = [self.path, self.path + "-wal", self.reserve].compactMap(InboxRoom.status)
        self.shares = InboxShares(of: files.reduce(free) { $0 + Int64($1.st_blocks) * 512 })
        return free
    }

    /// The length, not the blocks: file systems that store no zeros, such as ZFS, report no blocks.
    private var reserveBytes: Int64 { InboxRoom.status(of: self.reserve).map { Int64($0.st_size) } ?? 0 }

    private func allocateReserve(_ bytes: Int64) {
        _ = unlink(self.reserve)
        guard let file = FileDescriptor(opening: self.reserve, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) else {
            return
        }
        if posix_fallocate(file.number, 0, off_t(bytes)) != 0 { _ = unlink(self.reserve) }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }

    package mutating func giveUpReserve() {
        _ = unlink(self.reserve)
        self.hasReserve = false
        self.measure()
    }

    package static func freeBytes(at path: String) -> Int64? {
        var disk = statvfs()
        // Some FUSE file systems report 0 for everything.
        guard statvfs(Directory.parent(of: path), &disk) == 0, disk.f_blocks > 0 else { return nil }
        // Only root may use the blocks that the file system keeps back.
        let blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail
        let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        return overflow ? nil : Int64(clamping: min(bytes, UInt64(Int64.max / 2)))
    }
}

/// Limits for the parts of an inbox, as shares of the disk's free space plus the inbox's own files. A row may occupy
/// twice its counted bytes in the file.
package struct InboxShares: Sendable, Hashable {
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
    package let doneBytes: Int64
    package let waitingBytes: Int64
    package let deadBytes: Int64

    package init(of room: Int64) {
        self.logBytes = (room / 16).held(to: InboxShares.leastLog...InboxShares.mostLog)
        (self.doneBytes, self.waitingBytes, self.deadBytes) = (room / 8, room / 4, room / 8)
    }

    mutating func limitLog(toReserve bytes: Int64) { self.logBytes = min(self.logBytes, bytes / 3) }

    package static let mostInScarcity: Int64 = InboxShares.mostLog / 2
    /// For a disk whose free space is unknown or does not matter.
    package static let unlimited = InboxShares(of: .max)
}
