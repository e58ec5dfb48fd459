import Glibc

/// Opens and replaces regular files of this user. Opening refuses links, pipes and other users' files, since others may
/// write in the same folder, such as `/tmp`.
package enum OwnFile {
    /// - Parameter flags: Flags of open(2). `O_CREAT` creates a missing file with mode 0600.
    /// - Throws: ``FileError/notAFile(path:)`` for a link, pipe, socket, device or directory,
    ///   ``FileError/foreignOwner(path:owner:)``, ``FileError/system(path:operation:code:)``.
    package static func open(_ path: String, _ flags: Int32) throws(FileError) -> FileDescriptor {
        // Without O_NONBLOCK, open(2) of a pipe would block until another process opens it.
        guard let file = FileDescriptor(opening: path, flags | O_NOFOLLOW | O_NONBLOCK) else {
            // open(2): ELOOP for a link, ENXIO for a socket or a pipe without a reader, EISDIR for writing a
            // directory.
            if [ELOOP, ENXIO, EISDIR].contains(errno) { throw .notAFile(path: path) }
            throw .system(path: path, operation: "open", code: errno)
        }
        let status = try OwnFile.status(of: file, path: path)
        guard status.st_uid == geteuid() else { throw .foreignOwner(path: path, owner: status.st_uid) }
        return file
    }

    /// Reads the file regardless of its mode; returns `nil` if it does not exist.
    package static func read(_ path: String) throws(FileError) -> [UInt8]? {
        try OwnFile.openExisting(path).map { file throws(FileError) in try OwnFile.contents(of: file, path: path) }
    }

    static func openExisting(_ path: String) throws(FileError) -> FileDescriptor? {
        do throws(FileError) {
            return try OwnFile.open(path, O_RDONLY)
        } catch {
            if case .system(_, _, ENOENT) = error { return nil }
            throw error
        }
    }

    static func status(of file: FileDescriptor, path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(path: path, operation: "stat", code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        return status
    }

    static func contents(
        of file: FileDescriptor, path: String, maximumBytes: Int = .max
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumBytes {
            let count = file.read(into: &chunk)
            if count == 0 { return bytes }
            guard count > 0 else { throw .system(path: path, operation: "read", code: errno) }
            bytes += chunk[..<count]
        }
        throw .tooLarge(path: path)
    }

    /// Replaces the file at `path`. Readers see either the old content or the new content. A link is replaced, not
    /// followed.
    ///
    /// - Parameters:
    ///   - mode: The mode of the file, regardless of the umask. Default 0600.
    ///   - isDurable: Whether to flush the content to the disk before the rename. Default: yes.
    /// - Throws: ``FileError``; the old content then remains. ``FileError/notAFile(path:)`` if `path` names a pipe,
    ///   socket, device or directory.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, isDurable: Bool = true
    ) throws(FileError) {
        var status = stat()
        guard lstat(path, &status) != 0 || [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
            throw .notAFile(path: path)
        }
        let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        // O_EXCL follows no link.
        guard let file = FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) else {
            throw .system(path: path, operation: "create", code: errno)
        }
        do throws(FileError) {
            guard file.fill(with: bytes) else { throw .system(path: path, operation: "write", code: errno) }
            guard fchmod(file.number, mode) == 0 else { throw .system(path: path, operation: "chmod", code: errno) }
            if isDurable, fsync(file.number) != 0 { throw .system(path: path, operation: "fsync", code: errno) }
            guard rename(temporary, path) == 0 else { throw .system(path: path, operation: "rename", code: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
