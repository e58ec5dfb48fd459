import Glibc

/// Reads and writes the files that hold tokens: mode 0600, owned by this user, replaced as a whole or not at all.
public enum PrivateFile {
    /// The whole file, or `nil` when there is none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read, belongs to another user, or is open to others.
    public static func read(_ path: String, maximumBytes: Int = 1_048_576) throws(FileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(path: path, operation: "open", code: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path: path, operation: "stat", code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        // Anything group or others may do with it makes a credential no longer ours alone.
        guard status.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: UInt32(status.st_mode & 0o7777)) }
        guard status.st_uid == geteuid() else { throw .foreignOwner(path: path, owner: status.st_uid) }
        guard status.st_size <= maximumBytes else { throw .tooLarge(path: path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(path: path, operation: "read", code: errno)
            }
            bytes += chunk[..<count]
        }
        throw .tooLarge(path: path)
    }

    /// Puts `bytes` at `path` so that a crash leaves either the old or the new content: write, fsync, rename, fsync of
    /// the directory.
    ///
    /// - Throws: ``FileError``. The old content is then still there, except after `fsync` of the directory (the path in
    ///   the error is the directory's): then the new content is there, and a crash of the machine may bring the old one
    ///   back. A file system that cannot write a directory through (`EINVAL`, `ENOTSUP`) does so in its own time; that
    ///   is no error.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(path: path, operation: "create", code: errno) }
        do throws(FileError) {
            try PrivateFile.writeAll(bytes, to: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw .system(path: path, operation: "fsync", code: errno) }
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        close(descriptor)
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw .system(path: path, operation: "rename", code: code)
        }
        try PrivateFile.synchronizeDirectory(of: path)
    }

    /// Makes a directory and its missing parents; what it makes has mode 0700.
    ///
    /// - Throws: ``FileError``.
    public static func makeDirectory(_ path: String) throws(FileError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path: path) }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try PrivateFile.makeDirectory(String(path[..<slash]))
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(path: path, operation: "mkdir", code: errno)
        }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(path: path, operation: "write", code: errno)
            }
            written += count
        }
    }

    /// Writes the entry of `path` in its directory through to the disk, as far as the file system can.
    ///
    /// - Throws: ``FileError`` with the directory's path.
    package static func synchronizeDirectory(of path: String) throws(FileError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path: directory, operation: "open", code: errno) }
        defer { close(descriptor) }
        // fsync(2): EINVAL says that the file does not support it.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw .system(path: directory, operation: "fsync", code: errno)
        }
    }
}
