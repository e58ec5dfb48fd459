import Glibc

/// Reserves an installation for one process, and for one agent in it, as long as this object lives.
///
/// Each installation has one byte in one of 64 files; its holder has a POSIX lock (`fcntl(2)`, `F_SETLK`) on that byte.
/// Ten thousand locks take 16 ms in 64 files, and 0.9 s in one (measured): the kernel walks through a file's list of
/// locks.
///
/// The kernel names a lock's holder, and ends the lock with the process. But one process can take a lock twice, and
/// closing any descriptor of a file releases all of the process's locks in it. ``LockTable`` handles both traps. No
/// other code may open these files.
///
/// Two installations with the same 64-bit hash would share a lock.
final class InstallationLock: Sendable {
    private static let table = Locked(LockTable())

    private let place: LockTable.Place

    init(installationID: String, directory: String) throws(PushAgentError) {
        // FNV-1a: every process must compute the same hash, and Swift's own has a random seed.
        let hash = installationID.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let path = "\(directory)/\(hash % 64).lock"
        self.place = try InstallationLock.table.withLock { table throws(PushAgentError) in
            try table.take(Int64(hash / 64), of: path, for: installationID)
        }
    }

    deinit { InstallationLock.table.withLock { [place] in $0.giveUp(place) } }
}

private struct LockTable {
    struct Place: Hashable {
        fileprivate var path: String
        fileprivate var offset: Int64
    }

    /// Identifies a file by its inode, since several paths may lead to the file.
    fileprivate struct File: Hashable {
        var device: dev_t
        var number: ino_t

        init(_ status: stat) {
            self.device = status.st_dev
            self.number = status.st_ino
        }
    }

    private struct Held {
        /// All stay open: closing one would release the locks.
        var descriptors: [FileDescriptor]
        var offsets: Set<Int64> = []
    }

    private var held: [File: Held] = [:]
    /// By path, so that a second holder gets an error even if somebody has replaced the file.
    private var files: [Place: File] = [:]

    mutating func take(
        _ offset: Int64, of path: String, for installationID: String
    ) throws(PushAgentError) -> Place {
        let place = Place(path: path, offset: offset)
        let isOurs = PushAgentError.installationInUse(installationID: installationID, processID: Int(getpid()))
        guard self.files[place] == nil else { throw isOurs }
        let (file, descriptor) = try self.open(path)
        guard self.held[file]?.offsets.contains(offset) != true else { throw isOurs }
        var range = LockTable.range(F_WRLCK, offset)
        guard fcntl(descriptor, F_SETLK, &range) == 0 else {
            let code = errno
            let holder = LockTable.holder(of: offset, in: descriptor)
            self.closeIfUnused(file)
            if code == EAGAIN || code == EACCES {
                throw .installationInUse(installationID: installationID, processID: holder)
            }
            throw .file(.system(path: path, operation: "lock", code: code))
        }
        self.held[file]?.offsets.insert(offset)
        self.files[place] = file
        return place
    }

    mutating func giveUp(_ place: Place) {
        guard let file = self.files.removeValue(forKey: place),
            let descriptor = self.held[file]?.descriptors.first?.number
        else { return }
        var range = LockTable.range(F_UNLCK, place.offset)
        _ = fcntl(descriptor, F_SETLK, &range)
        self.held[file]?.offsets.remove(place.offset)
        self.closeIfUnused(file)
    }

    private mutating func open(_ path: String) throws(PushAgentError) -> (File, descriptor: Int32) {
        var status = stat()
        if lstat(path, &status) == 0, let descriptor = self.held[File(status)]?.descriptors.first?.number {
            return (File(status), descriptor)
        }
        let opened: FileDescriptor
        do throws(FileError) {
            opened = try OwnFile.open(path, O_RDWR | O_CREAT)
            status = try OwnFile.status(of: opened, path: path)
        } catch {
            throw .file(error)
        }
        // Cleaners of /tmp leave a file alone that has a `flock(2)` lock (tmpfiles.d(5)).
        _ = flock(opened.number, LOCK_SH | LOCK_NB)
        self.held[File(status), default: Held(descriptors: [])].descriptors.append(opened)
        return (File(status), opened.number)
    }

    private mutating func closeIfUnused(_ file: File) {
        guard let held = self.held[file], held.offsets.isEmpty else { return }
        self.held[file] = nil
    }

    private static func holder(of offset: Int64, in descriptor: Int32) -> Int? {
        var range = LockTable.range(F_WRLCK, offset)
        guard fcntl(descriptor, F_GETLK, &range) == 0, range.l_type != F_UNLCK else { return nil }
        // 0 if this process does not see the holder's PID namespace.
        return range.l_pid > 0 ? Int(range.l_pid) : nil
    }

    private static func range(_ type: Int32, _ offset: Int64) -> flock {
        flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: off_t(offset), l_len: 1, l_pid: 0)
    }
}
