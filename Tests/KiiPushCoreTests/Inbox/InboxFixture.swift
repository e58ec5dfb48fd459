import Foundation
import KiiPushCore
import TestSupport
import Testing

final class InboxFixture {
    let directory: String
    let path: String

    init(name: String = "inbox.db") throws {
        self.directory = FileManager.default.temporaryDirectory.path + "/inbox-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: self.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        self.path = self.directory + "/" + name
    }

    deinit { try? FileManager.default.removeItem(atPath: self.directory) }

    func open(_ change: (inout Inbox.Configuration) -> Void = { _ in }) throws -> Inbox {
        var configuration = Inbox.Configuration()
        change(&configuration)
        return try Inbox(path: self.path, configuration: configuration)
    }

    func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
    }
}

extension Timestamp {
    static func at(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: seconds * 1000) }
}

extension StoredMessage {
    static func sample(
        _ number: Int = 0, installation: Int64 = 1, bytes: Int = 20, state: RowState = .inHand,
        packetID: UInt16? = nil, at: Timestamp = .at(1000)
    ) -> StoredMessage {
        StoredMessage(
            installation: installation,
            topic: "topic",
            payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes),
            packetID: packetID,
            connection: 7,
            receivedAt: at,
            state: state
        )
    }
}

extension Inbox {
    /// Creates the rows' installations first if necessary.
    @discardableResult
    func insert(_ rows: [StoredMessage]) throws(InboxError) -> [Int64] {
        let last = rows.map(\.installation).max() ?? 0
        let isKnown = try self.installationID(last) != nil
        return try self.transaction { transaction throws(InboxError) in
            if !isKnown, last > 0 {
                for number in 1...last { _ = try transaction.installation(id: "installation-\(number)") }
            }
            var sequences: [Int64] = []
            for row in rows { sequences.append(try transaction.insert(row)) }
            return sequences
        }
    }

    @discardableResult
    func update(
        _ change: MessageChange, acknowledgedAt: Timestamp? = nil, at now: Timestamp = .at(2000)
    ) throws(InboxError) -> Bool {
        try self.transaction { transaction throws(InboxError) in
            try transaction.update(change, acknowledgedAt: acknowledgedAt, at: now) != nil
        }
    }
}

extension InboxFixture {
    /// - Parameter offset: 60 is the user version, 68 the application ID (SQLite's file format, section 1.3).
    func patchHeader(at offset: Int, _ value: UInt32) throws {
        var data = try Data(contentsOf: URL(filePath: self.path))
        withUnsafeBytes(of: value.bigEndian) { data.replaceSubrange(offset..<(offset + 4), with: $0) }
        try data.write(to: URL(filePath: self.path))
    }

    func fileSize() throws -> Int { try Data(contentsOf: URL(filePath: self.path)).count }
}
