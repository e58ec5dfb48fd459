import Glibc

/// Measures the free space on an inbox's disk, and keeps a reserve file there. The inbox stores messages only while the
/// reserve file exists. Writes that make room may use the reserve's space.
package struct InboxRoom {
    private static let checkInterval: Duration = .seconds(60)

    private let path: String
    /// A file beside the inbox that only occupies space. Deleting it makes room on a full disk.
    private let reserve: String
    private let clocks: Clocks
    private let freeBytes: (String) -> Int64?
    private var checkedAt: MonotonicInstant
    package private(set) var shares = InboxShares.unlimited
    /// Whether the last check found a reserve file of at least ``InboxShares/leastReserve`` bytes.
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
        let (reserved, needed) = (self.reserveFileBytes, self.shares.reserveBytes)
        // The reserve is created or enlarged only if twice the log's limit stays free. A reserve of more than twice the
        // needed size shrinks.
        let canGrow = reserved < needed && free + reserved >= needed + 2 * self.shares.logBytes
        if canGrow || reserved > 2 * needed {
            self.allocateReserve(needed)
        }
        let standing = self.reserveFileBytes
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
    private var reserveFileBytes: Int64 { InboxRoom.status(of: self.reserve).map { Int64($0.st_size) } ?? 0 }

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
