import CSQLite
import Glibc
import KiiPushCore

/// A valid inbox file. The fuzzer changes its rows without the library's knowledge, and restores them.
///
/// The names of tables and columns come from the file itself.
final class RowsFile {
    let now = Timestamp(millisecondsSinceEpoch: 1_700_000_100_000)
    let inbox: Inbox
    let reader: InboxReader
    /// The messages in the unchanged file.
    let sound: [MessageRecord]
    /// The messages whose rows the last edit changed.
    private(set) var edited: Set<Int64> = []

    private let connection: RawConnection
    /// The keys of the changed rows, by the table's index.
    private var changed: [Int: Set<Int64>] = [:]

    init() throws {
        // In memory if possible: thousands of commits a second are too many for a disk.
        var template = Array("\(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")/kii-push-rows.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw RawConnection.Failure(text: "no folder: \(errno)") }
        let folder = String(cString: made)
        // The files are removed while they are open, because a fuzzer ends without warning.
        defer {
            for suffix in ["", "-wal", "-shm", "-mark"] { unlink("\(folder)/inbox.sqlite\(suffix)") }
            rmdir(folder)
        }
        self.inbox = try Inbox(path: "\(folder)/inbox.sqlite")
        try Self.fill(self.inbox)
        self.reader = try InboxReader(stateDirectory: folder)
        self.sound = try self.reader.messages()
        self.connection = try RawConnection("\(folder)/inbox.sqlite")
    }

    /// Stores messages of two installations, with each state once.
    private static func fill(_ inbox: Inbox) throws {
        try inbox.transaction { transaction throws(InboxError) in
            let installations = [try transaction.installation(id: "a"), try transaction.installation(id: "b")]
            try transaction.set(InboxOwner(site: "s", app: "a", principal: "user:u"), of: installations[0])
            let start = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)
            for (index, state) in RowState.allCases.enumerated() {
                let row = StoredMessage(
                    installation: installations[index % 2], topic: "t",
                    payload: Array(#"{"a":"\#(FuzzSecret.text)"}"#.utf8), packetID: UInt16(index + 1),
                    receivedAt: start)
                let sequence = try transaction.insert(row, storedAt: start)
                guard state != .inHand else { continue }
                let verdict: MessageChange.Verdict =
                    switch state {
                    case .retry: .retry(after: .seconds(60), failure: .failed, firstStart: nil)
                    case .presented: .presented
                    case .dead: .dead(.attemptsFailed(.failed))
                    case .waiting, .inHand: .setAside
                    case .done: .done(.newData)
                    }
                var change = MessageChange(
                    sequence: sequence, installation: installations[index % 2], verdict: verdict)
                change.attempts = 1
                let instant = MonotonicInstant(nanoseconds: 0)
                change.attempt = .init(number: 1, startedAt: instant, endedAt: instant + .seconds(1))
                _ = try transaction.update(
                    change, acknowledgedAt: start, at: TurnClock(now: start, instant: instant))
                _ = try transaction.absorb(into: sequence, at: start + .seconds(2))
            }
        }
    }

    /// The tables that the last edit changed.
    var touched: Set<String> { Set(self.changed.keys.map { self.connection.tables[$0].name }) }

    /// Restores the original rows, and makes other changes.
    func edit(_ edits: FuzzInput) throws {
        var edits = edits
        try self.connection.execute("BEGIN IMMEDIATE")
        for (place, numbers) in self.changed { try self.connection.tables[place].restore(numbers) }
        self.changed = [:]
        self.edited = []
        for _ in 0..<8 where !edits.isEmpty {
            let place = edits.number(in: 0...self.connection.tables.count - 1)
            let table = self.connection.tables[place]
            guard !table.rows.isEmpty else { continue }
            let row = table.rows[edits.number(in: 0...table.rows.count - 1)]
            let column = edits.number(in: 0...table.columns)
            self.changed[place, default: []].insert(row.key)
            self.edited.insert(row.number)
            // The index behind the last column removes the row.
            if column == table.columns {
                table.remove(row.key)
            } else {
                table.set(column, of: row.key, to: RawValue(&edits))
            }
        }
        try self.connection.execute("COMMIT")
    }

    /// Runs every operation on messages, and rolls all of them back.
    func tryWriting() throws(InboxError) {
        let back = InboxError(.other, step: "taking all of it back")
        do throws(InboxError) {
            try self.inbox.transaction { transaction throws(InboxError) in
                _ = try self.inbox.prune(now: self.now, in: transaction)
                // The changed messages, and message 1.
                for row in self.edited.union([1]) {
                    _ = try transaction.absorb(into: row, at: self.now)
                    let again = MessageChange.Verdict.retry(after: .zero, failure: .failed, firstStart: nil)
                    var change = MessageChange(sequence: row, installation: 1, verdict: again)
                    change.attempts = 2
                    let clock = TurnClock(now: self.now, instant: MonotonicInstant(nanoseconds: 0))
                    _ = try transaction.update(change, at: clock)
                    // First from a retry, then while the message already waits.
                    _ = try transaction.requeue(row, at: self.now)
                    _ = try transaction.requeue(row, at: self.now)
                    _ = try transaction.drop(row)
                }
                try transaction.moveRetries(by: .seconds(-3600))
                throw back
            }
        } catch {
            guard error == back else { throw error }
        }
    }
}
