import Glibc

package enum Directory {
    /// The names in a directory without `.` and `..`, unordered; `nil` if it cannot be opened, with the reason in
    /// `errno`.
    package static func names(in path: String) -> [String]? {
        guard let stream = opendir(path) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Resolves links; `nil` on failure, with the reason in `errno`.
    package static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Removes a directory and its content without following links. Ignores errors.
    package static func remove(_ path: String) {
        for name in Directory.names(in: path) ?? [] {
            let child = "\(path)/\(name)"
            if unlink(child) != 0, errno == EISDIR || errno == EPERM { Directory.remove(child) }
        }
        rmdir(path)
    }
}
