import Glibc

/// Reads files that decide where secrets go and which programs run.
///
/// Such a file must belong to this user or root. No other user may be able to write the file, or to replace it, a
/// folder of its path or a link in it.
package enum TrustedFile {
    /// Reads the whole file; returns `nil` if it does not exist.
    ///
    /// - Throws: ``FileError``. ``FileError/foreignOwner(path:owner:)`` and ``FileError/writableByOthers(path:mode:)``
    ///   name the file or folder that another user controls.
    package static func read(_ path: String, maximumBytes: Int = 1_048_576) throws(FileError) -> [UInt8]? {
        guard let place = try TrustedFile.followed(path) else { return nil }
        // Without O_NONBLOCK, opening a pipe would block.
        guard let file = FileDescriptor(opening: place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            throw .system(path: path, operation: "open", code: errno)
        }
        let status = try OwnFile.status(of: file, path: path)
        try TrustedFile.requireTrustedOwner(status, path)
        guard status.st_mode & 0o022 == 0 else {
            throw .writableByOthers(path: path, mode: UInt32(status.st_mode & 0o7777))
        }
        return try OwnFile.contents(of: file, path: path, maximumBytes: maximumBytes)
    }

    /// Resolves links. Requires that only this user or root can replace each name on the way. Returns `nil` if the
    /// file does not exist.
    private static func followed(_ path: String) throws(FileError) -> String? {
        guard let start = path.hasPrefix("/") ? "/" : Directory.resolved(".") else {
            throw .system(path: path, operation: "open", code: errno)
        }
        var here = start == "/" ? "" : start
        var names = Array(path.split(separator: "/").reversed())
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                here = Directory.parent(of: here.isEmpty ? "/" : here)
                if here == "/" { here = "" }
                continue
            }
            let next = "\(here)/\(name)"
            var status = stat()
            guard lstat(next, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw .system(path: path, operation: "open", code: errno)
            }
            try TrustedFile.requireTrustedPlace(of: next, status, in: here.isEmpty ? "/" : here)
            guard status.st_mode & S_IFMT == S_IFLNK else {
                here = next
                continue
            }
            links += 1
            // path_resolution(7): Linux also follows at most 40 links.
            guard links <= 40 else { throw .system(path: path, operation: "open", code: ELOOP) }
            let target = try TrustedFile.target(of: next)
            if target.hasPrefix("/") { here = "" }
            names += target.split(separator: "/").reversed()
        }
        return here.isEmpty ? "/" : here
    }

    private static func target(of link: String) throws(FileError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count >= 0 else { throw .system(path: link, operation: "readlink", code: errno) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Throws if the rights to the folder let another user replace the name.
    private static func requireTrustedPlace(
        of name: String, _ entry: stat, in folder: String
    ) throws(FileError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw .system(path: folder, operation: "stat", code: errno) }
        try TrustedFile.requireTrustedOwner(status, folder)
        guard status.st_mode & 0o022 != 0 else { return }
        // In a sticky folder, such as /tmp, only the owners of a name and of the folder can replace it (inode(7)).
        guard status.st_mode & S_ISVTX != 0 else {
            throw .writableByOthers(path: folder, mode: UInt32(status.st_mode & 0o7777))
        }
        try TrustedFile.requireTrustedOwner(entry, name)
    }

    private static func requireTrustedOwner(_ status: stat, _ path: String) throws(FileError) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .foreignOwner(path: path, owner: status.st_uid)
        }
    }
}
