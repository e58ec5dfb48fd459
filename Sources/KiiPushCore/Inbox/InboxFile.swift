import Glibc

/// Permissions of the inbox file. SQLite gives `-wal` and `-shm` the mode of the file they belong to.
enum InboxFile {
    /// Creates `path` with mode 0600, whatever the umask, or takes the rights of others away from what exists.
    ///
    /// An existing file is never opened here: closing a descriptor drops every POSIX lock that this process holds on
    /// that file, those of another SQLite connection included.
    static func makePrivate(_ path: String) throws(InboxError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            defer { close(descriptor) }
            guard fchmod(descriptor, 0o600) == 0 else {
                throw InboxError(.notPermitted, step: "setting the file's mode", systemError: errno)
            }
            return
        }
        switch errno {
        case EEXIST: try self.restrict(path)
        case EACCES, EPERM, EROFS:
            throw InboxError(.notPermitted, step: "creating the file", systemError: errno)
        case ENOSPC, EDQUOT: throw InboxError(.full, step: "creating the file", systemError: errno)
        default: throw InboxError(.cannotOpen, step: "creating the file", systemError: errno)
        }
    }

    private static func restrict(_ path: String) throws(InboxError) {
        for name in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(name, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(name, 0o600) == 0 else {
                throw InboxError(.notPermitted, step: "setting the file's mode", systemError: errno)
            }
        }
    }
}
