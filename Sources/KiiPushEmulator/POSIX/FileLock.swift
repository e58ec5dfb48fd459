import Glibc

/// A lock on a file that ends with the last process that holds its descriptor.
final class FileLock: Sendable {
    private let file: FileDescriptor
    private let path: String

    /// Takes the lock; `nil` when another process has it.
    init?(path: String) throws(EmulatorError) {
        self.file = try Files.openOwn(path)
        self.path = path
        while flock(self.file.raw, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return nil }
            throw .system("lock \(path)", errno)
        }
    }

    /// For a child process that is to hold the lock too.
    var descriptor: Int32 { self.file.raw }

    /// Lets the lock go, also for child processes that hold the descriptor.
    func release() { flock(self.file.raw, LOCK_UN) }

    /// Writes this process's ID into the file, for whoever is refused.
    func recordOwner() throws(EmulatorError) {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(self.file.raw, 0) == 0, pwrite(self.file.raw, text, text.count, 0) == text.count else {
            throw .system("write \(self.path)", errno)
        }
    }

    /// The process ID that the holder wrote.
    static func owner(path: String) -> Int32? {
        // An unreadable file only costs the error message its process ID.
        guard let content = try? Files.read(path) else { return nil }
        return Int32(String(decoding: content, as: UTF8.self).filter { $0.isNumber })
    }
}
