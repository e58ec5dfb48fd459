import Foundation
import TestSupport

/// The files of an inbox after its process has ended. This type knows SQLite's pages and frames, but not the contents.
///
/// - Source: "Database File Format" of SQLite, sections 1.3 (the header) and 4.1 (the write-ahead log).
struct InboxFiles: Sendable {
    var database: Data
    /// The write-ahead log; empty after a clean stop, which removes the log.
    var log = Data()
    var mark: Data

    static let name = "inbox.sqlite"
    static let logSuffix = "-wal"
    private static let markSuffix = "-mark"

    /// Reads the files in a state directory. No process may have them open.
    init(in directory: String) throws {
        let path = directory + "/" + Self.name
        self.database = try Data(contentsOf: URL(filePath: path))
        self.mark = try Data(contentsOf: URL(filePath: path + Self.markSuffix))
        guard FileManager.default.fileExists(atPath: path + Self.logSuffix) else { return }
        self.log = try Data(contentsOf: URL(filePath: path + Self.logSuffix))
    }

    /// Replaces the files in a state directory, and removes other files of the previous inbox.
    func write(to directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.hasPrefix(Self.name) && !name.hasSuffix("-reserve") {
            try FileManager.default.removeItem(atPath: directory + "/" + name)
        }
        let path = directory + "/" + Self.name
        try self.database.write(to: URL(filePath: path))
        try self.mark.write(to: URL(filePath: path + Self.markSuffix))
        if !self.log.isEmpty { try self.log.write(to: URL(filePath: path + Self.logSuffix)) }
    }

    // MARK: - Pages and frames

    static let logHeaderBytes = 32
    static let frameHeaderBytes = 24

    var pageBytes: Int {
        let bytes = Int(self.database[16]) << 8 | Int(self.database[17])
        return bytes == 1 ? 65_536 : bytes
    }
    var pages: Int { self.database.count / self.pageBytes }
    var frameBytes: Int { Self.frameHeaderBytes + self.pageBytes }
    var frames: Int { max(0, self.log.count - Self.logHeaderBytes) / self.frameBytes }

    func page(_ number: Int) -> Range<Int> { (number - 1) * self.pageBytes..<number * self.pageBytes }

    func frame(_ number: Int) -> Int { Self.logHeaderBytes + (number - 1) * self.frameBytes }

    /// Limits the pages that SQLite caches, so that it reads other pages again. Bytes 48 to 51 of the header:
    /// "suggested cache size".
    mutating func suggestCache(ofPages pages: UInt8) {
        self.database.replaceSubrange(48..<52, with: [0, 0, 0, pages])
    }
}
