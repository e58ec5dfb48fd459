import Glibc

/// Prevents the replacement of an inbox's files while a reader opens them.
///
/// SQLite opens the file, its log and the log's index one after the other. If the files were replaced meanwhile, the
/// reader would fill the new index from the old log, and later readers would fail.
enum InboxNames {
    /// Runs `body` with the directory locked: a reader may lack the right to create a lock file.
    ///
    /// - Throws: the errors of `body`; ``InboxError`` of kind `locked` after `limit`, or `cannotOpen`.
    static func keep<Result>(
        of path: String, changes: Bool = false, within limit: Duration, _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        guard let directory = FileDescriptor(opening: Directory.parent(of: path), O_RDONLY | O_DIRECTORY) else {
            // EACCES: the user may open the file but not its directory. ENOENT, ENOTDIR: there is no directory to lock,
            // and `body` finds no file.
            guard [EACCES, ENOENT, ENOTDIR].contains(errno) else {
                throw InboxError(.cannotOpen, step: "opening the directory", systemError: errno)
            }
            return try body()
        }
        // Closing does not release the lock while a forked child still has the open file.
        defer { flock(directory.number, LOCK_UN) }
        let deadline = MonotonicInstant.now() + limit
        // Other errors of `flock`: the file system has no such locks, and `body` runs without one.
        let lock = (changes ? LOCK_EX : LOCK_SH) | LOCK_NB
        while flock(directory.number, lock) != 0, errno == EWOULDBLOCK || errno == EINTR {
            guard MonotonicInstant.now() < deadline else {
                throw InboxError(.locked, step: "waiting for a process that opens or replaces the inbox")
            }
            poll(nil, 0, 1)
        }
        return try body()
    }
}
