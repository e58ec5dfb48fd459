import Glibc

/// An exclusive `flock` on a file, held while this object lives, so that one process at a time owns the file's
/// resource.
///
/// The kernel releases the lock when the process and every child that inherited ``file`` have ended, even by a crash.
/// The holder writes its process ID into the file, for the error of a second process.
package final class FileLock: Sendable {
    /// For a child process that should hold the lock too.
    package let file: FileDescriptor

    /// Takes the lock at `path`, and creates a missing file with mode 0600; `nil` if another process holds the lock.
    package init?(path: String) throws(FileError) {
        self.file = try OwnFile.open(path, O_RDWR | O_CREAT)
        while flock(self.file.number, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            if code == EWOULDBLOCK { return nil }
            throw .system(path: path, operation: "lock", code: code)
        }
        // Best effort: the flock is the lock; the number only tells people its holder.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(self.file.number, 0) == 0 { _ = pwrite(self.file.number, text, text.count, 0) }
    }

    // Closing is not enough: a child being forked now shares the open file until it calls exec.
    deinit { self.release() }

    /// Releases the lock for all owners, child processes included.
    package func release() { flock(self.file.number, LOCK_UN) }

    /// The process ID of the lock's holder; `nil` if the file cannot be read.
    package static func holder(of path: String) -> Int? {
        guard let bytes = try? PrivateFile.read(path) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
