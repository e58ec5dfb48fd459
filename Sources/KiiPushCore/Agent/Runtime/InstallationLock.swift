import Glibc

/// Reserves an installation for one process, and for one agent in it, as long as this object lives.
///
/// Each installation has one byte in one of 64 files; its holder has a POSIX lock (`fcntl(2)`, `F_SETLK`) on that byte.
/// Ten thousand locks take 16 ms in 64 files, and 0.9 s in one (measured): the kernel walks through a file's list of
/// locks.
///
/// The kernel names a lock's holder, and ends the lock with the process. But one process can take a lock twice, and
/// closing any descriptor of a file releases all of the process's locks in it. ``LockFile`` handles both traps. No
/// other code may open these files.
///
/// Two installations with the same 64-bit hash would share a lock.
final class InstallationLock: Sendable {
    /// By path. The paths have no links, since two paths to one file would lead into the traps.
    private static let files = Locked<[String: LockFile]>([:])

    private let path: String
    private let offset: Int64

    init(installationID: String, directory: String) throws(PushAgentError) {
        let hash = installationID.stableHash
        let path = "\(Directory.resolved(directory) ?? directory)/\(hash % 64).lock"
        let offset = Int64(hash / 64)
        try InstallationLock.files.withLock { files throws(PushAgentError) in
            var file = files.removeValue(forKey: path) ?? LockFile()
            defer { if file.isUsed { files[path] = file } }
            try file.take(offset, of: path, for: installationID)
        }
        // Assigned last: if the initialiser throws, no `deinit` may give up another object's lock.
        self.path = path
        self.offset = offset
    }

    deinit {
        InstallationLock.files.withLock { [path, offset] files in
            guard var file = files.removeValue(forKey: path) else { return }
            file.giveUp(offset)
            if file.isUsed { files[path] = file }
        }
    }
}

private struct LockFile {
    /// Several if somebody has replaced the file. All stay open: closing one would release the locks.
    private var descriptors: [FileDescriptor] = []
    private var offsets: Set<Int64> = []

    var isUsed: Bool { !self.offsets.isEmpty }

    mutating func take(_ offset: Int64, of path: String, for installationID: String) throws(PushAgentError) {
        guard !self.offsets.contains(offset) else {
            throw .installationInUse(installationID: installationID, processID: Int(getpid()))
        }
        let descriptor = try self.open(path)
        var range = LockFile.range(F_WRLCK, offset)
        guard fcntl(descriptor, F_SETLK, &range) == 0 else {
            let code = errno
            if code == EAGAIN || code == EACCES {
                throw .installationInUse(
                    installationID: installationID, processID: LockFile.holder(of: offset, in: descriptor))
            }
            throw .file(.system(path: path, operation: "lock", code: code))
        }
        self.offsets.insert(offset)
    }

    mutating func giveUp(_ offset: Int64) {
        var range = LockFile.range(F_UNLCK, offset)
        for descriptor in self.descriptors { _ = fcntl(descriptor.number, F_SETLK, &range) }
        self.offsets.remove(offset)
    }

    private mutating func open(_ path: String) throws(PushAgentError) -> Int32 {
        var (present, known) = (stat(), stat())
        if let last = self.descriptors.last?.number, lstat(path, &present) == 0, fstat(last, &known) == 0,
            present.st_dev == known.st_dev, present.st_ino == known.st_ino
        {
            return last
        }
        let opened = Result { () throws(FileError) in try OwnFile.open(path, O_RDWR | O_CREAT) }
        let descriptor = try opened.mapError(PushAgentError.file).get()
        // Cleaners of /tmp leave a file alone that has a `flock(2)` lock (tmpfiles.d(5)).
        _ = flock(descriptor.number, LOCK_SH | LOCK_NB)
        self.descriptors.append(descriptor)
        return descriptor.number
    }

    private static func holder(of offset: Int64, in descriptor: Int32) -> Int? {
        var range = LockFile.range(F_WRLCK, offset)
        guard fcntl(descriptor, F_GETLK, &range) == 0, range.l_type != F_UNLCK else { return nil }
        // 0 if this process does not see the holder's PID namespace.
        return range.l_pid > 0 ? Int(range.l_pid) : nil
    }

    private static func range(_ type: Int32, _ offset: Int64) -> flock {
        flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: off_t(offset), l_len: 1, l_pid: 0)
    }
}
