import Glibc

/// Reads and writes the files that hold tokens: mode 0600, owned by this user, replaced as a whole or not at all.
package enum PrivateFile {
    /// The largest file that is written, and read back: 1 MiB.
    package static let maximumBytes = 1_048_576

    /// The whole file, or `nil` when there is none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read, belongs to another user, or is open to others.
    package static func read(_ path: String, maximumBytes: Int = PrivateFile.maximumBytes) throws(FileError) -> [UInt8]?
    {
        guard let file = try OwnFile.openExisting(path) else { return nil }
        let status = try OwnFile.status(of: file, path: path)
        // Anything group or others may do with it makes a credential no longer ours alone.
        guard status.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: UInt32(status.st_mode & 0o7777)) }
        return try OwnFile.contents(of: file, path: path, maximumBytes: maximumBytes)
    }

    /// Puts `bytes` at `path` so that a crash leaves either the old or the new content: write, fsync, rename, fsync of
    /// the directory.
    ///
    /// - Throws: ``FileError``, with `EFBIG` for more than ``maximumBytes``, which could not be read back. The old content
    ///   is then still there, except after `fsync` of the directory (the path in the error is the directory's): then the
    ///   new content is there, and a crash of the machine may bring the old one back.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        guard bytes.count <= PrivateFile.maximumBytes else {
            throw .system(path: path, operation: "write", code: EFBIG)
        }
        try OwnFile.replace(path, with: bytes)
        try PrivateFile.synchronizeDirectory(of: path)
    }

    /// Makes a directory and its missing parents; what it makes has mode 0700.
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

    /// Writes the entry of `path` in its directory through to the disk, or throws ``FileError`` with the directory's path. A
    /// file system that cannot do that does so in its own time, which is no error.
    package static func synchronizeDirectory(of path: String) throws(FileError) {
        let directory = Directory.parent(of: path)
        guard let file = FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY) else {
            throw .system(path: directory, operation: "open", code: errno)
        }
        // fsync(2): EINVAL says that the file does not support it.
        guard fsync(file.number) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw .system(path: directory, operation: "fsync", code: errno)
        }
    }
}
