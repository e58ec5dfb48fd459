import Glibc

/// Keeps an installation for one process, and in it for one agent, for as long as it lives.
///
/// Each installation is one byte of one of 64 files, and who has locked that byte has the installation: a gateway with ten
/// thousand of them has 64 files open for their locks. In one file alone the kernel would walk a list of ten thousand for
/// each of them (0.9 s in all, measured; in 64 files: 16 ms).
///
/// The locks are those of POSIX (`fcntl(2)`, `F_SETLK`), which end with the process, however it ends, and of which the
/// kernel tells the holder's process ID. Two traps come with them: they do not keep two holders in one process apart, and
/// closing any descriptor of a file gives up all that the process holds in it. ``LockTable`` sees to both; whatever else is
/// in the process has no business with these files.
///
/// Two installations whose IDs hash to the same byte would be taken for one; among ten thousand the chance of that is less
/// than one in a hundred billion.
final class InstallationLock: Sendable {
    private static let table = Locked(LockTable())

    private let place: LockTable.Place

    /// Takes the lock of `installationID` among those in `directory`, or says who has it.
    ///
    /// - Throws: ``PushAgentError/installationInUse(installationID:processID:)`` or ``PushAgentError/file(_:)``.
    init(installationID: String, directory: String) throws(PushAgentError) {
        // FNV-1a, since every process has to come to the same place: Swift's own hash has another seed in each.
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

/// The bytes that this process has locked, and in which files.
private struct LockTable {
    /// One byte of one file.
    struct Place: Hashable {
        fileprivate var path: String
        fileprivate var offset: Int64
    }

    /// A file, by whatever path it is reached.
    fileprivate struct File: Hashable {
        var device: dev_t
        var number: ino_t

        init(_ status: stat) {
            self.device = status.st_dev
            self.number = status.st_ino
        }
    }

    private struct Held {
        /// All that are open of the file: to close one would give up the locks.
        var descriptors: [FileDescriptor]
        var offsets: Set<Int64> = []
    }

    private var held: [File: Held] = [:]
    /// By path, so that one is refused to a second holder also when its file was replaced meanwhile.
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

    /// Has the file open that is at `path` now: another one, if somebody has replaced it.
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
        // What cleans up /tmp leaves a file alone that somebody has locked in this other way (tmpfiles.d(5)).
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
        // 0 where the holder is in a PID namespace that this process does not see.
        return range.l_pid > 0 ? Int(range.l_pid) : nil
    }

    private static func range(_ type: Int32, _ offset: Int64) -> flock {
        flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: off_t(offset), l_len: 1, l_pid: 0)
    }
}
