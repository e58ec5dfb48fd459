import Glibc

/// Reads and replaces private files, most of them with secrets such as tokens and keys. They belong to this user, and
/// are closed to others (mode 0600).
package enum PrivateFile {
    /// The largest file to write and, by default, to read: 1 MiB.
    package static let maximumBytes = 1_048_576

    /// Reads the whole file; returns `nil` if it does not exist.
    ///
    /// - Throws: ``FileError`` if the file cannot be read, is no regular file or too large, belongs to another user, or
    ///   is accessible to others.
    package static func read(_ path: String, maximumBytes: Int = PrivateFile.maximumBytes) throws(FileError) -> [UInt8]?
    {
        guard let file = try OwnFile.openExisting(path) else { return nil }
        let status = try OwnFile.status(of: file, path: path)
        guard status.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: UInt32(status.st_mode & 0o7777)) }
        return try OwnFile.contents(of: file, path: path, maximumBytes: maximumBytes)
    }

    /// Replaces the file at `path` and flushes it to the disk. After a crash it has either the old or the new content.
    ///
    /// - Throws: ``FileError``; `EFBIG` for more than ``maximumBytes``. The old content then remains, with one
    ///   exception: if the directory cannot be opened or flushed, the file has the new content, which a crash of the
    ///   machine may undo.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        guard bytes.count <= PrivateFile.maximumBytes else {
            throw .system(path: path, operation: "write", code: EFBIG)
        }
        try OwnFile.replace(path, with: bytes)
        try PrivateFile.synchronizeDirectory(of: path)
    }

    package static func makeDirectory(_ path: String) throws(FileError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path: path) }
            return
        }
        let parent = Directory.parent(of: path)
        if parent != ".", parent != "/" { try PrivateFile.makeDirectory(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(path: path, operation: "mkdir", code: errno)
        }
    }

    /// Flushes the directory entry of `path` to the disk, if the file system supports this. An error names the
    /// directory.
    package static func synchronizeDirectory(of path: String) throws(FileError) {
        let directory = Directory.parent(of: path)
        guard let file = FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY) else {
            throw .system(path: directory, operation: "open", code: errno)
        }
        guard fsync(file.number) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw .system(path: directory, operation: "fsync", code: errno)
        }
    }
}
