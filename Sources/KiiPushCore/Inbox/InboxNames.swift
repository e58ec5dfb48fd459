import Glibc

/// Keeps the names of an inbox's files as they are while a reader opens them.
///
/// SQLite opens the file, its log and the log's index by name, one after the other. If a new inbox takes the place between
/// two of these, the reader has the old log and the new index. It fills the new index from the old log. Whoever opens the
/// new inbox next looks for pages in a log that is not there.
enum InboxNames {
    /// Runs `body` while the names stay as they are. If `body` itself `changes` the names, nobody else opens the files
    /// meanwhile.
    ///
    /// Locks the directory, since a reader may not be allowed to make a file there.
    ///
    /// - Throws: what `body` throws; ``InboxError`` of kind `locked` after `limit`.
    static func keep<Result>(
        of path: String, changes: Bool = false, within limit: Duration, _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        guard let directory = FileDescriptor(opening: Directory.parent(of: path), O_RDONLY | O_DIRECTORY) else {
            // Some users may open a file and not its directory. Without a directory there is no file.
            guard [EACCES, ENOENT, ENOTDIR].contains(errno) else {
                throw InboxError(.cannotOpen, step: "opening the directory", systemError: errno)
            }
            return try body()
        }
        // Closing is not enough: a child that is being forked right now has the same open file until it calls exec.
        defer { flock(directory.number, LOCK_UN) }
        let deadline = MonotonicInstant.now() + limit
        // On a file system without such locks, `body` runs without one.
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
