import Glibc

/// The first page of an inbox file. The first page of a new inbox can replace a damaged one, since both are nearly
/// equal (SQLite's file format, sections 1.3 and 2.6).
struct FirstPage {
    private static let headerBytes = 100

    private let bytes: [UInt8]

    init?(of path: String) {
        guard let file = FileDescriptor(opening: path, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = pread(file.number, &bytes, bytes.count, 0)
        // SQLite stores a page size of 65,536 bytes as 1.
        let size = count > 18 ? Int(bytes[16]) << 8 | Int(bytes[17]) : 0
        guard size == 1 || size >= 512, count >= max(size, Self.headerBytes) else { return nil }
        self.bytes = Array(bytes[..<(size == 1 ? 65_536 : size)])
    }

    /// Copies the file at `path` and its write-ahead log. Overwrites the copy's header with this page's header or, with
    /// `isWhole`, the copy's first page with this page.
    func repair(_ path: String, to copy: String, isWhole: Bool) -> Bool {
        // A missing file counts as empty, since its write-ahead log may still exist.
        guard let length = access(path, F_OK) == 0 ? Self.copy(path, to: copy) : Self.copy("/dev/null", to: copy)
        else { return false }
        _ = Self.copy(path + "-wal", to: copy + "-wal")
        var start = Array(self.bytes[..<(isWhole ? self.bytes.count : Self.headerBytes)])
        // Bytes 28–31: the number of pages, valid only if bytes 92–95 equal bytes 24–27. Bytes 32–39: an empty free
        // list.
        let pages = UInt32(truncatingIfNeeded: length / self.bytes.count).bigEndian
        start.replaceSubrange(28..<40, with: withUnsafeBytes(of: (pages, UInt32(0), UInt32(0))) { [UInt8]($0) })
        start.replaceSubrange(92..<96, with: Array(start[24..<28]))
        guard let file = FileDescriptor(opening: copy, O_WRONLY) else { return false }
        return pwrite(file.number, start, start.count, 0) == start.count
    }

    private static func copy(_ path: String, to copy: String) -> Int? {
        guard let source = FileDescriptor(opening: path, O_RDONLY),
            let target = FileDescriptor(opening: copy, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var length = 0
        while true {
            let count = source.read(into: &buffer)
            guard count > 0 else { return count == 0 ? length : nil }
            guard write(target.number, buffer, count) == count else { return nil }
            length += count
        }
    }
}
