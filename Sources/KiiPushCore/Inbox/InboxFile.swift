import Glibc

/// The files of an inbox, and checks before SQLite opens them. SQLite gives `-wal` and `-shm` the permissions of the
/// inbox file.
enum InboxFile {
    static let logSuffixes = ["-wal", "-shm", InboxMark.suffix]
    static let suffixes = [""] + logSuffixes

    /// Throws if the path names something other than a regular file: a link leads elsewhere, and reading a pipe may
    /// never end. Does not open the file: closing a descriptor would drop this process's POSIX locks on the file.
    static func requireRegular(_ path: String) throws(InboxError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw InboxError(.notAFile, step: "opening the file")
    }

    /// Creates `path` with mode 0600, regardless of the umask, or removes other users' rights to an existing file and
    /// those beside it. Does not open an existing file: closing a descriptor would drop this process's POSIX locks on
    /// the file, including SQLite's.
    static func makePrivate(_ path: String) throws(InboxError) {
        if let file = FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL) {
            guard fchmod(file.number, 0o600) == 0
            else { throw InboxError(.notPermitted, step: "setting the file's mode", systemError: errno) }
            return
        }
        let code = errno
        guard code != EEXIST else {
            for name in self.suffixes.map({ path + $0 }) {
                var status = stat()
                guard stat(name, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
                guard chmod(name, 0o600) == 0
                else { throw InboxError(.notPermitted, step: "setting the file's mode", systemError: errno) }
            }
            return
        }
        let kind: InboxError.Kind =
            switch code {
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT: .full
            default: .cannotOpen
            }
        throw InboxError(kind, step: "creating the file", systemError: code)
    }

    /// Throws if the file is empty or missing although its log or its mark exists. SQLite would create a new database
    /// and remove the log.
    static func refuseEmptied(_ path: String) throws(InboxError) {
        guard self.size(of: path) == 0 else { return }
        if let mark = InboxMark(ofInboxAt: path) {
            let held = "the \(mark.unfinished) open messages that the file held"
            throw InboxError(.corrupt, step: "finding \(held) (it is empty or gone)")
        }
        guard self.size(of: path + "-wal") == 0
        else { throw InboxError(.corrupt, step: "finding the file to its log (it is empty or gone)") }
    }

    static func remove(_ path: String) { for suffix in self.suffixes { _ = unlink(path + suffix) } }

    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
