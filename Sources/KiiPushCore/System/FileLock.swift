import Glibc

/// Holds a file's exclusive `flock` for as long as it lives, so that one process at a time owns what the file stands for.
///
/// The kernel releases the lock when the process, however it ends, and every child that inherited ``file`` have ended.
/// The holder writes its process ID into the file, for the message that the second one gets.
package final class FileLock: Sendable {
    /// For a child process that is to hold the lock as well.
    package let file: FileDescriptor

    /// Takes the lock at `path` (created with mode 0600 where missing), or is `nil` where another process has it.
    package init?(path: String) throws(FileError) {
        self.file = try OwnFile.open(path, O_RDWR | O_CREAT)
        while flock(self.file.number, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            if code == EWOULDBLOCK { return nil }
            throw .system(path: path, operation: "lock", code: code)
        }
        // Best effort: the lock is the flock; the number only names its holder to people.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(self.file.number, 0) == 0 { _ = pwrite(self.file.number, text, text.count, 0) }
    }

    // Closing is not enough: a child that is being forked right now has the same open file until it calls exec.
    deinit { self.release() }

    /// Releases the lock for all its owners, child processes included.
    package func release() { flock(self.file.number, LOCK_UN) }

    /// The process ID of the holder of the lock at `path`, where it can be read.
    package static func holder(of path: String) -> Int? {
        guard let bytes = try? PrivateFile.read(path) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
