import Glibc
import KiiPushCore

/// The few operations on files that the emulator needs, each private to its user.
enum Files {
    /// Makes `path` (and what leads to it) unless it is there, with mode 0700.
    static func makePrivateDirectory(_ path: String) throws(EmulatorError) {
        let parent = Files.parent(of: path)
        if parent != path, access(parent, F_OK) != 0 { try Files.makePrivateDirectory(parent) }
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else { throw .system("make the directory \(path)", errno) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system("look at \(path)", errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .system("use \(path)", ENOTDIR) }
        guard status.st_uid == geteuid() else { throw .system("use \(path), which belongs to another user", EACCES) }
        guard status.st_mode & 0o077 != 0 else { return }
        // An empty directory was made for us. One with things in it may be somebody's home, or /tmp.
        guard Files.isEmpty(path) else { throw .system("use \(path), which others may look into", EACCES) }
        guard chmod(path, 0o700) == 0 else { throw .system("make the directory \(path) private", errno) }
    }

    private static func isEmpty(_ path: String) -> Bool {
        guard let stream = opendir(path) else { return false }
        defer { closedir(stream) }
        var count = 0
        // `.` and `..` are always there.
        while count < 3, readdir(stream) != nil { count += 1 }
        return count < 3
    }

    /// A new directory of our own below `/tmp`.
    static func makeTemporaryDirectory() throws(EmulatorError) -> String {
        // mkdtemp(3) wants six of them at the end, in whose place it puts a name that is free.
        let placeholder = String(repeating: "X", count: 6)
        var template = Array("/tmp/kii-push-emulator.\(placeholder)".utf8CString)
        guard mkdtemp(&template) != nil else { throw .system("make a temporary directory", errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The whole file, or `nil` when there is none.
    static func read(_ path: String) throws(EmulatorError) -> [UInt8]? {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else {
            if errno == ENOENT { return nil }
            throw .system("open \(path)", errno)
        }
        let file = FileDescriptor(owning: raw)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file.raw, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read \(path)", errno) }
            guard count > 0 else { return content }
            content += chunk[..<count]
        }
    }

    /// Replaces `path` with `content`, mode 0600: whoever reads sees the old file or the new one, never a part.
    static func replace(_ path: String, with content: [UInt8]) throws(EmulatorError) {
        try EmulatorError.ofFile { () throws(FileError) in try OwnFile.replace(path, with: content) }
    }

    /// Opens a file for reading and writing, and makes it with mode 0600 unless there is one.
    static func openOwn(_ path: String) throws(EmulatorError) -> FileDescriptor {
        let raw = try EmulatorError.ofFile { () throws(FileError) in try OwnFile.open(path, O_RDWR | O_CREAT) }
        return FileDescriptor(owning: raw)
    }

    static func remove(_ path: String) { unlink(path) }

    static func rename(_ path: String, to target: String) throws(EmulatorError) {
        guard Glibc.rename(path, target) == 0 else { throw .system("move \(path) to \(target)", errno) }
    }

    /// Removes a directory with all that is in it; what cannot be removed stays.
    static func removeTree(_ path: String) {
        guard let stream = opendir(path) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            let child = "\(path)/\(name)"
            if unlink(child) != 0, errno == EISDIR || errno == EPERM { Files.removeTree(child) }
        }
        rmdir(path)
    }

    /// The path from the root, without links: programs are started with it, wherever they run.
    static func absolute(_ path: String) throws(EmulatorError) -> String {
        guard let resolved = realpath(path, nil) else { throw .system("find \(path)", errno) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// What precedes the last component of `path`.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Where `program` is, searching `directories` in order.
    static func find(program: String, in directories: [String]) throws(EmulatorError) -> String {
        for directory in directories where access("\(directory)/\(program)", X_OK) == 0 {
            return "\(directory)/\(program)"
        }
        throw EmulatorError(.programNotFound(program), "`\(program)` is not in \(directories.joined(separator: ":"))")
    }
}
