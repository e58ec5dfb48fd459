import Glibc

/// Opens and replaces files of this user.
///
/// A path may lie where others can write, such as below `/tmp`. There a link would lead to another file, and a pipe would
/// make whoever opens it wait. Neither is opened: only a regular file of this user is.
package enum OwnFile {
    /// - Parameter flags: Those of open(2). With `O_CREAT` a missing file is made with mode 0600.
    /// - Throws: ``FileError``: ``FileError/notAFile(path:)`` for a link, pipe, socket, device or directory,
    ///   ``FileError/foreignOwner(path:owner:)``, ``FileError/system(path:operation:code:)``.
    package static func open(_ path: String, _ flags: Int32) throws(FileError) -> FileDescriptor {
        // O_NONBLOCK concerns pipes and devices alone: open(2) would wait for the other end.
        guard let file = FileDescriptor(opening: path, flags | O_NOFOLLOW | O_NONBLOCK) else {
            // open(2): a link; a pipe that nobody reads, or a socket; a directory that was to be written.
            if [ELOOP, ENXIO, EISDIR].contains(errno) { throw .notAFile(path: path) }
            throw .system(path: path, operation: "open", code: errno)
        }
        let status = try OwnFile.status(of: file, path: path)
        guard status.st_uid == geteuid() else { throw .foreignOwner(path: path, owner: status.st_uid) }
        return file
    }

    /// The whole file, whatever its mode is; `nil` when there is none.
    package static func read(_ path: String) throws(FileError) -> [UInt8]? {
        try OwnFile.openExisting(path).map { file throws(FileError) in try OwnFile.contents(of: file, path: path) }
    }

    /// Opens a file for reading; `nil` when there is none.
    static func openExisting(_ path: String) throws(FileError) -> FileDescriptor? {
        do throws(FileError) {
            return try OwnFile.open(path, O_RDONLY)
        } catch {
            if case .system(_, _, ENOENT) = error { return nil }
            throw error
        }
    }

    /// What fstat(2) says about a regular file; of anything else it throws ``FileError/notAFile(path:)``.
    static func status(of file: FileDescriptor, path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(path: path, operation: "stat", code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        return status
    }

    /// Everything from the descriptor's position to the end; beyond `maximumBytes` it throws ``FileError/tooLarge(path:)``.
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

    /// Puts `bytes` at `path`: whoever reads sees the old content or the new, and never a part.
    ///
    /// The new content is first in a new file beside it, whose name is random. A link at `path` is replaced and not
    /// followed.
    ///
    /// - Parameters:
    ///   - mode: The mode of the file, whatever the umask is. Default 0600.
    ///   - isDurable: Whether the content is on the disk before the name is. Default: yes.
    /// - Throws: ``FileError``. The old content is then still there. ``FileError/notAFile(path:)`` where `path` names a
    ///   pipe, socket, device or directory.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, isDurable: Bool = true
    ) throws(FileError) {
        var status = stat()
        guard lstat(path, &status) != 0 || [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
            throw .notAFile(path: path)
        }
        let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        // O_EXCL follows no link and opens nothing that was there before.
        guard let file = FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) else {
            throw .system(path: path, operation: "create", code: errno)
        }
        do throws(FileError) {
            try OwnFile.writeAll(bytes, to: file, path: path)
            guard fchmod(file.number, mode) == 0 else { throw .system(path: path, operation: "chmod", code: errno) }
            if isDurable, fsync(file.number) != 0 { throw .system(path: path, operation: "fsync", code: errno) }
            guard rename(temporary, path) == 0 else { throw .system(path: path, operation: "rename", code: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static func writeAll(_ bytes: [UInt8], to file: FileDescriptor, path: String) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(path: path, operation: "write", code: errno) }
            written += count
        }
    }
}
