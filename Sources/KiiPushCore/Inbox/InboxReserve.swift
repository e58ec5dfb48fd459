import Glibc

/// A file beside the inbox that holds nothing. It takes room on the disk until a full disk needs it: what makes room there
/// needs some itself.
struct InboxReserve {
    let path: String

    init(of inboxPath: String) { self.path = inboxPath + "-reserve" }

    /// The file's length in bytes; 0 where there is none. Its blocks say nothing on file systems that store no zeros, such as
    /// ZFS. Those keep no room for it either.
    var bytes: Int64 { InboxReserve.status(of: self.path).map { Int64($0.st_size) } ?? 0 }

    /// Makes the file anew, taking so much room; there is none if that cannot be done.
    func allocate(_ bytes: Int64) {
        self.giveUp()
        let descriptor = open(self.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if posix_fallocate(descriptor, 0, off_t(bytes)) != 0 { self.giveUp() }
    }

    /// Removes the file.
    func giveUp() { _ = unlink(self.path) }

    /// The room that a file takes on the disk, in bytes.
    static func allocated(_ path: String) -> Int64 { self.status(of: path).map { Int64($0.st_blocks) * 512 } ?? 0 }

    private static func status(of path: String) -> stat? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }
}
