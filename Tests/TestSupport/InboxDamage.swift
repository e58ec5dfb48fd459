import Foundation

/// Damage to the files of a closed inbox.
package enum InboxDamage: String, CaseIterable, Sendable {
    case zeroedLeaf = "leaf zeroed"
    case flippedHead = "bytes flipped in a leaf"
    case everyFourthPage = "every 4th page zeroed"
    case pages2To6 = "pages 2 to 6 zeroed"
    case garbage = "garbage"
    case half = "cut to half"
    case emptied = "emptied"
    case removed = "removed"
    case older = "older copy"
    // These need a log, which a clean stop does not leave.
    case flippedBitInLog = "bit flipped in the log"
    case logRemoved = "log removed"
    case emptiedWithLog = "emptied beside its log"
    case removedWithLog = "removed beside its log"

    /// Whether the damage needs the log that a killed process leaves.
    package var needsLog: Bool {
        [.flippedBitInLog, .logRemoved, .emptiedWithLog, .removedWithLog].contains(self)
    }

    private static let pageSize = 4096
    /// The number of messages that an older copy lacks.
    private static let recent: Int64 = 20

    /// - Parameters:
    ///   - path: the inbox file.
    ///   - text: identifies the page to damage: it is on that leaf of the file, or on that page of the log.
    package func apply(to path: String, at text: String) throws {
        // Newer pages in the log would hide the damage to the file.
        if !self.needsLog, FileManager.default.fileExists(atPath: path + "-wal") {
            guard try SQLiteFile(path, for: .changing).integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
                throw TestFailure("the log of \(path) is in use")
            }
        }
        let size = InboxDamage.pageSize
        switch self {
        case .zeroedLeaf: try Self.change(path) { Self.zero([try Self.page(with: text, in: $0)], of: &$0) }
        case .flippedHead:
            // Overwrites the page's type, its number of rows, and the positions of the first rows.
            try Self.change(path) { data in
                let start = try Self.page(with: text, in: data) * size
                for offset in start..<start + 16 { data[offset] ^= 0xFF }
            }
        case .everyFourthPage:
            try Self.change(path) { Self.zero(stride(from: 3, to: $0.count / size, by: 4), of: &$0) }
        case .pages2To6: try Self.change(path) { Self.zero(1...5, of: &$0) }
        case .garbage:
            try Self.change(path) { data in
                data = Data((0..<data.count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / 256) })
            }
        case .half: try Self.change(path) { $0 = Data($0[..<($0.count / size / 2 * size)]) }
        case .emptied, .emptiedWithLog: try Self.change(path) { $0 = Data() }
        case .removed, .removedWithLog: try FileManager.default.removeItem(atPath: path)
        case .older: try Self.makeOlder(path)
        case .flippedBitInLog:
            try Self.change(path + "-wal") { data in
                guard let range = data.range(of: Data(text.utf8)) else { throw TestFailure("no log holds \(text)") }
                data[range.lowerBound] ^= 1
            }
        case .logRemoved: try FileManager.default.removeItem(atPath: path + "-wal")
        }
    }

    private static func change(_ path: String, _ change: (inout Data) throws -> Void) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        try change(&data)
        try data.write(to: URL(filePath: path))
    }

    private static func page(with text: String, in data: Data) throws -> Int {
        guard let range = data.range(of: Data(text.utf8)) else { throw TestFailure("no page holds \(text)") }
        return range.lowerBound / Self.pageSize
    }

    private static func zero(_ pages: some Sequence<Int>, of data: inout Data) {
        for page in pages {
            data.replaceSubrange(page * Self.pageSize..<(page + 1) * Self.pageSize, with: Data(count: Self.pageSize))
        }
    }

    /// Removes the newest messages, as in an older copy.
    private static func makeOlder(_ path: String) throws {
        let file = try SQLiteFile(path, for: .changing)
        let last = try file.integer("SELECT last_sequence FROM ledger") - Self.recent
        let recent = "FROM message WHERE sequence > \(last)"
        let states = (0...5).map { state in
            """
            rows\(state) = rows\(state) - (SELECT count(*) \(recent) AND state = \(state)),
            bytes\(state) = bytes\(state) - (SELECT coalesce(sum(bytes), 0) \(recent) AND state = \(state))
            """
        }
        try file.execute(
            """
            UPDATE ledger SET last_sequence = \(last), received = received - (SELECT count(*) \(recent)),
            \(states.joined(separator: ","));
            DELETE \(recent);
            """)
    }
}
