import Glibc

/// The room that an inbox has on its disk, as of the last look. The inbox stores messages only while its reserve
/// stands. Steps that make room, such as a verdict, may use the reserve up.
package struct InboxRoom {
    private static let lookInterval: Duration = .seconds(60)

    private let path: String
    /// A file beside the inbox that only occupies room, for steps that make room on a full disk.
    private let reserve: String
    private let clocks: Clocks
    private let freeBytes: (String) -> Int64?
    private var lookedAt: MonotonicInstant
    package private(set) var shares = InboxShares.unlimited
    /// Whether there is room to store messages.
    package private(set) var hasReserve = false

    /// Looks at the disk of the inbox at `path`. Makes the reserve if `makesReserve` is true and there is room for it.
    /// `freeBytes` returns the bytes that this user may still write there; `nil` if the disk cannot tell.
    package init(
        of path: String, clocks: Clocks = .machine, makesReserve: Bool = true,
        freeBytes: @escaping (String) -> Int64? = InboxRoom.freeBytes(at:)
    ) {
        (self.path, self.reserve) = (path, path + "-reserve")
        (self.clocks, self.freeBytes) = (clocks, freeBytes)
        self.lookedAt = clocks.monotonic()
        self.measure()
        if makesReserve { self.look() }
    }

    /// The shares of the inbox at `path`. Changes nothing.
    package static func shares(of path: String) -> InboxShares { InboxRoom(of: path, makesReserve: false).shares }

    /// Looks again, if the last look is old or has found no room.
    package mutating func lookIfDue() {
        guard !self.hasReserve || self.clocks.monotonic() - self.lookedAt > InboxRoom.lookInterval else { return }
        self.look()
    }

    /// Looks again, and makes the reserve if there is room for it.
    package mutating func look() {
        self.lookedAt = self.clocks.monotonic()
        let free = self.measure()
        let (reserved, needed) = (self.reserveBytes, self.shares.reserveBytes)
        // No try if the reserve would leave no room to work in: others need some as well.
        if reserved < needed ? free + reserved >= needed + 2 * self.shares.logBytes : reserved > 2 * needed {
            self.allocateReserve(needed)
        }
        let standing = self.reserveBytes
        self.hasReserve = standing >= InboxShares.leastReserve
        if self.hasReserve { self.shares.limitLog(toReserve: standing) }
    }

    /// Returns the free bytes.
    @discardableResult
    private mutating func measure() -> Int64 {
        // If the disk cannot tell, only a write that fails does.
        let free = self.freeBytes(self.path) ?? .max / 2
        let files = [self.path, self.path + "-wal", self.reserve].compactMap(InboxRoom.status)
        self.shares = InboxShares(of: files.reduce(free) { $0 + Int64($1.st_blocks) * 512 })
        return free
    }

    /// The reserve's length; 0 if there is none. Its blocks say nothing on file systems that store no zeros, such as
    /// ZFS, which keep no room for it either.
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

    /// Removes the reserve, to give its room to steps that make room.
    package mutating func giveUpReserve() {
        _ = unlink(self.reserve)
        self.hasReserve = false
        self.measure()
    }

    package static func freeBytes(at path: String) -> Int64? {
        var disk = statvfs()
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        // Some file systems in user space report 0 for everything.
        guard statvfs(directory, &disk) == 0, disk.f_blocks > 0 else { return nil }
        // Root may also have what the file system keeps back from others.
        let blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail
        let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        return overflow ? nil : Int64(clamping: min(bytes, UInt64(Int64.max / 2)))
    }
}

/// The shares of the disk's room that parts of an inbox may take. The room is the free space plus the inbox's own
/// files. On a disk with less than 64 MiB of room every share is a fraction of it, so that no kind of message can take
/// the room that the others need. A row's bytes (``InboxCounts/bytes(topic:payload:)``) may take twice as many in the
/// file.
package struct InboxShares: Sendable, Hashable {
    /// The least room that an inbox works in.
    package static let leastRoom: Int64 = 2 << 20
    private static let leastLog: Int64 = 64 << 10
    // As many pages as SQLite lets a log grow to by default, 1,000 of 4 KiB.
    private static let mostLog: Int64 = 1000 * 4096
    // The largest message, the log of its transaction and that of a few small ones.
    static let leastReserve: Int64 = 512 << 10

    /// The length at which the log is written into the file.
    package private(set) var logBytes: Int64
    /// The size of the reserve, a file beside the inbox that is removed when the disk is full. Writing the log into the
    /// inbox may need the bytes of the log: ``logBytes`` and one transaction. Removing messages then needs a new log.
    package var reserveBytes: Int64 { max(3 * self.logBytes, InboxShares.leastReserve) }
    /// The most that one transaction should write; `nil`: no limit.
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

    /// The most that one transaction should write without a reserve.
    package static let mostInScarcity: Int64 = InboxShares.mostLog / 2
    /// For an unknown room, or one that does not matter.
    package static let unlimited = InboxShares(of: .max)
}
