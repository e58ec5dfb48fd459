import Glibc

/// Reads the inbox of a state directory, even while another process receives with it. Each call reads the disk as it is
/// at that moment. For one thread at a time.
package final class InboxReader {
    private let inbox: Inbox
    private let path: String
    private let stateDirectory: String

    /// Throws `missing` if there is no inbox file, and never was.
    package init(stateDirectory: String) throws(InboxAccessError) {
        let path = StateDirectory.inboxFile(in: stateDirectory)
        self.path = path
        self.stateDirectory = stateDirectory
        let opened = Result { () throws(InboxError) in try InboxReader.open(path) }
        guard let inbox = try opened.mapError({ InboxAccessError($0, path: path) }).get() else {
            throw .missing(path: path)
        }
        self.inbox = inbox
    }

    /// ``MessageLedger/lost`` includes messages that the file lacks although ``InboxMark`` counts them.
    package func ledger() throws(InboxAccessError) -> MessageLedger {
        // First the mark, then the file: a message stored in between must not look like a missing one.
        let mark = InboxMark(ofInboxAt: self.path)
        return try self.read { inbox throws(InboxError) in
            let ledger = try inbox.currentLedger()
            var summary = ledger.summary
            let missing = mark?.missing(from: ledger) ?? 0
            summary.received += missing
            summary.lost += missing
            return summary
        }
    }

    /// Checks every message, except for its payload, and whether the file holds all stored messages. Takes about a
    /// second for a million messages, and two seconds if the messages wait for a handler.
    package func verify() throws(InboxAccessError) {
        let mark = InboxMark(ofInboxAt: self.path)
        try self.read { inbox throws(InboxError) in
            try inbox.verify()
            try mark?.require(in: inbox.currentLedger())
        }
    }

    /// Sorted by reception, without ``MessageRecord/events``. Each record may hold a payload of 256 KiB.
    package func deadLetters(after messageID: Int64 = 0, limit: Int = 100) throws(InboxAccessError) -> [MessageRecord] {
        try self.read { inbox throws(InboxError) in
            try inbox.deadLetterRecords(after: messageID, limit: max(1, limit))
        }
    }

    package func deadLetterStock(
        bounds: PushRuntime.Bounds = PushRuntime.Bounds()
    ) throws(InboxAccessError) -> DeadLetterStock {
        var limit = bounds.deadLetterTally
        limit.bytes = min(limit.bytes, InboxRoom.shares(of: self.path).deadBytes)
        return try self.read { inbox throws(InboxError) in
            DeadLetterStock(try inbox.currentCounts()[.dead], limit: limit)
        }
    }

    /// Sorted by reception.
    package func messages(
        _ standings: Set<MessageRecord.Standing> = Set(MessageRecord.Standing.allCases), after messageID: Int64 = 0,
        limit: Int = 100
    ) throws(InboxAccessError) -> [MessageRecord] {
        try self.read { inbox throws(InboxError) in
            var records: [MessageRecord] = []
            let states = Set(standings.map { RowState($0) })
            for sequence in try inbox.sequences(states, after: messageID, limit: max(1, limit)) {
                if let record = try inbox.record(sequence) { records.append(record) }
            }
            return records
        }
    }

    /// Throws `neverReceived` for a number that no message has yet, and `removed` for a message that the inbox no
    /// longer has.
    package func trace(of messageID: Int64) throws(InboxAccessError) -> MessageRecord {
        // The last number first: otherwise a message that arrives between the two reads would count as removed.
        let found = try self.read { inbox throws(InboxError) in
            (last: try inbox.lastSequence(), record: try inbox.record(messageID))
        }
        if let record = found.record { return record }
        let wasGivenOut = messageID >= 1 && messageID <= found.last
        throw wasGivenOut ? .removed(messageID: messageID) : .neverReceived(messageID: messageID, last: found.last)
    }

    /// The unfinished messages that no agent of the state directory will handle. Empty if an agent's file cannot be
    /// read.
    package func stranded() throws(InboxAccessError) -> [StrandedMessages] {
        guard let current = AgentStateFile.installations(stateDirectory: self.stateDirectory) else { return [] }
        return try self.read { inbox throws(InboxError) in try inbox.stranded(besides: current) }
    }

    /// The number of the last message, 0 for none.
    package func lastMessageID() throws(InboxAccessError) -> Int64 {
        try self.read { inbox throws(InboxError) in try inbox.lastSequence() }
    }

    /// Returns `nil` if there is no file, and never was.
    private static func open(_ path: String) throws(InboxError) -> Inbox? {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        // Uses `stat`: closing a descriptor of the file would drop the locks of this process's SQLite connections.
        let isMissing = try InboxNames.keep(of: path, within: configuration.busyTimeout) {
            var status = stat()
            return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
                && InboxMark(ofInboxAt: path) == nil
        }
        guard !isMissing else { return nil }
        do throws(InboxError) {
            return try Inbox(path: path, configuration: configuration)
        } catch {
            // Without its log, a used file can look empty. ``InboxMark`` shows that it was used.
            if error.kind == .notMade { try InboxMark(ofInboxAt: path)?.require(in: InboxLedger()) }
            throw error
        }
    }

    private func read<Value>(_ body: (Inbox) throws(InboxError) -> Value) throws(InboxAccessError) -> Value {
        let read = Result { () throws(InboxError) in try body(self.inbox) }
        return try read.mapError { InboxAccessError($0, path: self.path) }.get()
    }
}

package enum InboxAccessError: Error, Sendable, Hashable, CustomStringConvertible {
    case missing(path: String)
    case newerVersion(path: String, version: Int)
    case damaged(path: String, reason: String)
    case unusable(path: String, reason: String)
    case neverReceived(messageID: Int64, last: Int64)
    case removed(messageID: Int64)
    case ended
    case silent
    case refused(reason: String)

    init(_ error: InboxError, path: String) {
        self =
            switch error.kind {
            case .newerVersion(let version): .newerVersion(path: path, version: version)
            case .notMade: .missing(path: path)
            case .corrupt: .damaged(path: path, reason: error.description)
            case .full, .locked, .notAFile, .notPermitted, .cannotOpen, .io, .away, .badAddress, .noSchema,
                .halfMade, .notTrusted, .fenced, .nameTaken, .restored, .nameInUse, .ofAnother, .other:
                .unusable(path: path, reason: error.description)
            }
    }

    package var description: String {
        switch self {
        case .missing(let path): "there is no inbox at \(path): no message was received into a file there"
        case .newerVersion(let path, let version):
            "\(path) was written by a newer version of this program (format \(version)); use that one"
        case .damaged(let path, let reason): "\(path) cannot be read: \(reason)"
        case .unusable(let path, let reason): "\(path) cannot be read now: \(reason)"
        case .neverReceived(let messageID, 0): "there is no message \(messageID): none was received yet"
        case .neverReceived(let messageID, let last):
            "there is no message \(messageID): the last one received is \(last)"
        case .removed(let messageID):
            "message \(messageID) is not kept any more: it was done, and done messages are removed after a while, or it "
                + "was dropped, or it was lost with an inbox that was damaged and moved aside"
        case .ended: "the process that receives ended before it answered; look whether it was done, and try again"
        case .silent:
            "the process that receives has not answered in time: is it stopped, or do others watch it? It may still do it"
        case .refused(let reason): reason
        }
    }
}

extension RowState {
    fileprivate init(_ standing: MessageRecord.Standing) {
        self =
            switch standing {
            case .waiting: .waiting
            case .running: .inHand
            case .retry: .retry
            case .presented: .presented
            case .done: .done
            case .dead: .dead
            }
    }
}
