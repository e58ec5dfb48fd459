import Glibc

/// Reads files that decide where secrets are sent and which programs are started.
///
/// Such a file has to belong to this user or to root, and only they may write it or replace it. Links are followed: what
/// holds for the file holds for the link and for the folders of both.
package enum TrustedFile {
    /// The whole file; `nil` when there is none.
    ///
    /// - Throws: ``FileError``: ``FileError/foreignOwner(path:owner:)`` and
    ///   ``FileError/writableByOthers(path:mode:)`` name the file or the folder that others control.
    package static func read(_ path: String, maximumBytes: Int = 1_048_576) throws(FileError) -> [UInt8]? {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw .system(path: path, operation: "open", code: errno)
        }
        defer { free(resolved) }
        let file = String(cString: resolved)
        for path in Set([path, file]) { try TrustedFile.requireTrustedPlace(of: path) }
        // O_NONBLOCK: a pipe in its place would make us wait.
        let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path: path, operation: "open", code: errno) }
        defer { close(descriptor) }
        let status = try OwnFile.status(of: descriptor, path: path)
        try TrustedFile.requireTrustedOwner(status, path)
        guard status.st_mode & 0o022 == 0 else {
            throw .writableByOthers(path: path, mode: UInt32(status.st_mode & 0o7777))
        }
        return try OwnFile.contents(of: descriptor, path: path, maximumBytes: maximumBytes)
    }

    /// Whoever can write the folder of a name can put something else under that name.
    private static func requireTrustedPlace(of path: String) throws(FileError) {
        let folder = PrivateFile.directory(of: path)
        var status = stat()
        guard stat(folder, &status) == 0 else { throw .system(path: folder, operation: "stat", code: errno) }
        try TrustedFile.requireTrustedOwner(status, folder)
        guard status.st_mode & 0o022 != 0 else { return }
        // In a sticky folder, such as /tmp, a name can be replaced only by its owner (inode(7)).
        guard status.st_mode & S_ISVTX != 0 else {
            throw .writableByOthers(path: folder, mode: UInt32(status.st_mode & 0o7777))
        }
        guard lstat(path, &status) == 0 else { throw .system(path: path, operation: "stat", code: errno) }
        try TrustedFile.requireTrustedOwner(status, path)
    }

    private static func requireTrustedOwner(_ status: stat, _ path: String) throws(FileError) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .foreignOwner(path: path, owner: status.st_uid)
        }
    }
}
