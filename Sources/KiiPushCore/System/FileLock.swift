import Glibc

/// An exclusive `flock`, held until ``release()`` or the end of this object. The kernel releases the lock when this
/// process and all children with ``file`` have ended, even after a crash. The file contains the holder's process ID.
package final class FileLock: Sendable {
    package let file: FileDescriptor

    /// Creates a missing file with mode 0600. Returns `nil` if another process, or another ``FileLock`` of this
    /// process, holds the lock.
    package init?(path: String) throws(FileError) {
        self.file = try OwnFile.open(path, O_RDWR | O_CREAT)
        while flock(self.file.number, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            if code == EWOULDBLOCK { return nil }
            throw .system(path: path, operation: "lock", code: code)
        }
        // An error here is ignored: the process ID only informs people.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(self.file.number, 0) == 0 { _ = pwrite(self.file.number, text, text.count, 0) }
    }

    // Closing the file is not enough: a child between fork and exec still has the same open file.
    deinit { self.release() }

    package func release() { flock(self.file.number, LOCK_UN) }

    /// The process ID in the file; `nil` if the file has none or cannot be read. The ID is stale if nobody holds the
    /// lock, or if only a child of that process does.
    package static func holder(of path: String) -> Int? {
        guard let bytes = try? PrivateFile.read(path) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
