import Foundation
import TestSupport

/// What agents have received and done before their inbox is damaged.
package struct Past: Sendable {
    /// A message as the sound inbox knows it.
    struct Message: Sendable {
        var number: Int
        var payload: String
        /// Whether it is done, or was dropped.
        var isSettled: Bool
    }

    /// Files, and what an undamaged inbox with them holds, by the messages' numbers in it.
    struct Snapshot: Sendable {
        var files: InboxFiles
        var messages: [Int64: Message]

        /// The messages that nobody has to care about any more.
        var settled: Set<Int64> { Set(self.messages.filter(\.value.isSettled).keys) }
    }

    /// Halfway: the older copy.
    let older: Snapshot
    /// Before the last messages came: what a file holds without its log.
    let beforeLog: Snapshot
    let killed: Snapshot
    let stopped: Snapshot
    /// How many messages were acknowledged.
    package let acknowledged: Int
    let receivers: [PastReceiver]

    /// How many pages the file has after the clean stop, and how many frames the log after the kill.
    package var size: (pages: Int, frames: Int) { (self.stopped.files.pages, self.killed.files.frames) }

    func files(at moment: Damage.Moment) -> InboxFiles { self.snapshot(at: moment).files }

    func snapshot(at moment: Damage.Moment) -> Snapshot {
        switch moment {
        case .afterStop, .whileOpen: self.stopped
        case .afterKill: self.killed
        }
    }
}

extension Past {
    /// Has agents receive in three parts, each with a process's clean end; in the third the files are also copied as a kill
    /// leaves them. That is enough for several pages of everything that SQLite keeps pages for.
    ///
    /// - Parameters:
    ///   - pageBytes: the length of a page, a power of two from 512 on; the smaller, the deeper are the trees. Default:
    ///     SQLite's.
    ///   - directory: for the files; it may be removed afterwards.
    package static func make(pageBytes: Int? = nil, in directory: String) async throws -> Past {
        let (state, killed, look) = (directory + "/state", directory + "/killed", directory + "/look")
        for path in [state, killed, look] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        if let pageBytes {
            try SQLiteFile(state + "/" + InboxFiles.name, for: .creating).execute(
                "PRAGMA page_size = \(pageBytes); PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        }
        let receivers = [PastReceiver("one"), PastReceiver("two", shows: true)]
        let stranded = PastReceiver("stranded", hasLargePayloads: false)
        // The last page of the older copy is to have messages that are settled later.
        var writer = PastWriter(state: state, receivers: [stranded] + receivers)
        try await writer.receive([60, 480, 120])
        let older = try writer.snapshot(try InboxFiles(in: state), in: look)
        try await writer.receive([0, 240, 60])
        let beforeLog = try writer.snapshot(try InboxFiles(in: state), in: look)
        try await writer.receive([0, 60, 15], copyingInto: killed)
        let stopped = try InboxFiles(in: state)
        // The mark of a process that was killed says the same a second after its last commit.
        try stopped.mark.write(to: URL(filePath: killed + "/inbox.sqlite-mark"))
        return Past(
            older: older, beforeLog: beforeLog, killed: try writer.snapshot(try InboxFiles(in: killed), in: look),
            stopped: try writer.snapshot(stopped, in: look), acknowledged: writer.sent, receivers: receivers)
    }
}
