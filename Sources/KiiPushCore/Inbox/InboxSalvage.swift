import CSQLite

/// Takes over every message of a damaged file that can be read and is not done, in the order of reception.
///
/// If reading fails, it goes on behind the damage. The file's indexes tell the next messages, as far as they can be
/// read. Otherwise it searches the numbers for the next readable message.
final class InboxSalvage {
    private let source: InboxSource?
    private let fresh: Inbox
    private let insertion: SQLiteStatement
    /// The file's counts: as this process knew them, or else as the file says.
    private let ledger: InboxLedger?
    private let mark: InboxMark?
    /// The number of unfinished messages in the indexes; `nil` if these cannot be read.
    private var indexed: Int?
    /// The numbers of messages that are not taken over (yet).
    private var unread: Set<Int64> = []
    private let notices: [InboxNotice]
    private let installations: [Int64: InboxSource.Installation]
    /// The key in the new file for each key in the damaged one, which may have one ID under two keys.
    private let keys: [Int64: Int64]
    private var highest: Int64 = 0
    private var takenOver = 0
    /// The number of messages that became dead letters because a part of them was unreadable.
    private var unclear = 0

    private static let batchBytes: Int64 = 4 << 20
    /// The most failures of a search: for each page of the file, as many as the range of numbers can be halved.
    private static let probesPerPage = 64
    private static let probes = 100_000
    /// The numbers left out if the last ones may be unknown: more than the messages of one second. A mark may be a
    /// second late.
    private static let gap: Int64 = 1_000_000
    /// The reasons of a dead letter whose installation could not be read, and of one that may be done.
    private static let unknownInstallation = "damaged inbox: whom it was for could not be read"
    private static let unknownState = "damaged inbox: whether it was handled could not be read"

    init(from path: String, into fresh: Inbox, _ remembered: Inbox.Remembered?, _ mark: InboxMark?) {
        // If nothing of the file can be read, there is nothing to take over.
        let source = try? InboxSource(path, columnsOf: fresh.connection)
        let columns = InboxSource.leading + ["bytes"] + (source?.furtherColumns ?? [])
        let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        self.insertion = SQLiteStatement(
            fresh.connection, "INSERT INTO message (\(columns.joined(separator: ", "))) VALUES (\(values))",
            step: "taking a message over")
        (self.source, self.fresh, self.mark) = (source, fresh, mark)
        self.ledger = remembered?.ledger ?? source?.ledger()
        self.notices = remembered?.notices ?? source?.notices() ?? []
        (self.installations, self.keys) = InboxSalvage.merge(
            source?.installations() ?? [:], remembered?.installations ?? [:])
    }

    /// Each installation once, under the key that the process knows it by.
    private static func merge(
        _ read: [Int64: InboxSource.Installation], _ remembered: [Int64: String]
    ) -> (installations: [Int64: InboxSource.Installation], keys: [Int64: Int64]) {
        var installations: [Int64: InboxSource.Installation] = [:]
        var keys: [Int64: Int64] = [:]
        var keysByID: [String: Int64] = [:]
        for key in remembered.keys.sorted() + read.keys.sorted() where keys[key] == nil {
            guard let id = remembered[key] ?? read[key]?.id else { continue }
            if let other = keysByID[id] {
                keys[key] = other
                continue
            }
            (keysByID[id], keys[key]) = (key, key)
            installations[key] = read[key].flatMap { $0.id == id ? $0 : nil } ?? .init(id: id)
        }
        return (installations, keys)
    }

    var isReadable: Bool { self.source != nil }

    /// Throws when the new file cannot be written. Unreadable messages are counted. `path` is the damaged file's future
    /// name, and `reason` describes the damage.
    func run(now: Timestamp, keptAt path: String, reason: String) throws(InboxError) {
        if let source { try self.copyMessages(source) }
        let lost = self.lostCount.map { Int($0) }
        let safe = self.safeSequence(now: now)
        try self.fresh.transaction { transaction throws(InboxError) in
            for (key, installation) in self.installations {
                // If it is unknown what has arrived, storing a redelivery as new is better than losing a message.
                try transaction.statements.restoreInstallation.run(key, installation.id, installation.proven ?? safe)
                if let owner = installation.owner { try transaction.set(owner, of: key) }
                if let adopter = installation.adopter.flatMap({ self.keys[$0] }) {
                    try transaction.adopt(key, by: adopter)
                }
            }
            transaction.restoreLedger(self.ledger, self.mark, lost: Int64(lost ?? 0), lastSequence: safe)
            let notice = InboxNotice(path: path, reason: reason + self.remark, takenOver: self.takenOver, lost: lost)
            for notice in self.notices + [notice] {
                try transaction.statements.addNotice.run(notice.path, notice.reason, notice.takenOver, notice.lost)
            }
        }
    }

    private var remark: String {
        guard self.unclear > 0 else { return "" }
        return "; \(self.unclear) messages became dead letters, since it is unclear whom they were for or whether they "
            + "were handled"
    }

    /// The most unfinished messages that the file's ledger does not know.
    private var missing: Int64 { self.ledger.flatMap { self.mark?.missing(from: $0) } ?? 0 }

    /// The number of unfinished messages, if anything tells it.
    private var unfinished: Int64? { (self.ledger?.unfinished ?? self.mark?.unfinished).map { $0 + self.missing } }

    /// The least number of messages that were there and could not be read; `nil` if nothing tells how many there were.
    /// An outdated page lacks later messages: the count of unread messages suffices only if the indexes have as many
    /// messages as the ledger or the mark counted.
    private var lostCount: Int64? {
        let unread = Int64(self.unread.count)
        if let indexed = self.indexed.map({ Int64($0) }) {
            if indexed == self.ledger?.unfinished { return unread + self.missing }
            if indexed == self.mark?.unfinished { return unread }
        }
        guard let unfinished else { return self.indexed == nil ? nil : unread }
        return max(unread, unfinished - Int64(self.takenOver))
    }

    /// A number that no message can have had.
    private func safeSequence(now: Timestamp) -> Int64 {
        let last = max(self.highest, self.ledger?.lastSequence ?? 0)
        if let mark, self.ledger.map(mark.isAhead) ?? true { return min(max(last, mark.sequence) + Self.gap, 1 << 56) }
        // Below a million messages a second, all numbers since 1970 are lower.
        return self.ledger == nil ? max(last, now.millisecondsSinceEpoch * 1000) : last
    }

    // MARK: - Messages

    private func copyMessages(_ source: InboxSource) throws(InboxError) {
        guard let numbers = source.unfinished() else {
            let last = [self.ledger?.lastSequence, self.mark?.sequence].compactMap { $0 }.max()
            return try self.search(source, through: last ?? source.lastSequence())
        }
        self.unread = Set(numbers)
        self.indexed = self.unread.count
        var next = 0
        var first: Int64 = 1
        while let reached = try self.copy(source, from: first, through: .max) {
            while next < numbers.count, numbers[next] <= reached { next += 1 }
            // One by one until one can be read: behind it, the rest may be intact.
            while next < numbers.count {
                let number = numbers[next]
                next += 1
                first = number + 1
                if try self.copy(source, from: number, through: number) == nil { break }
            }
            guard next < numbers.count else { break }
        }
        try self.settleDisputed(source)
    }

    /// Takes over, as dead letters, the messages that the indexes have as open and the table has as done. It is unclear
    /// which is right, unless the table has as many open messages as were counted.
    private func settleDisputed(_ source: InboxSource) throws(InboxError) {
        let disputed = self.unread.filter(source.isDone)
        guard self.unfinished != Int64(self.takenOver) else { return self.unread.subtract(disputed) }
        for number in disputed.sorted() {
            _ = try self.copy(source, from: number, through: number, includingDone: true)
        }
    }

    private func search(_ source: InboxSource, through last: Int64?) throws(InboxError) {
        var ranges: [(first: Int64, last: Int64)] = [(1, last ?? .max / 2)]
        var failures = 0
        let limit = min(InboxSalvage.probes, source.pages * InboxSalvage.probesPerPage)
        while let range = ranges.popLast(), failures < limit {
            guard let reached = try self.copy(source, from: range.first, through: range.last) else { continue }
            failures += 1
            guard reached + 1 < range.last else { continue }
            let middle = reached + (range.last - reached) / 2
            ranges += [(middle + 1, range.last), (reached + 1, middle)]
        }
    }

    /// Copies the messages of a range of numbers until one cannot be read. Returns the last number before it; `nil` if
    /// all could be read.
    private func copy(
        _ source: InboxSource, from first: Int64, through last: Int64, includingDone: Bool = false
    ) throws(InboxError) -> Int64? {
        try source.start(from: first, through: last, includingDone: includingDone)
        defer { source.rows.reset() }
        var reached = first - 1
        while true {
            let step = try self.fresh.transaction { transaction throws(InboxError) in
                var bytes: Int64 = 0
                var step = InboxSource.Step.nonsense
                while bytes < InboxSalvage.batchBytes {
                    step = try source.next()
                    switch step {
                    case .row(let sequence):
                        bytes += try self.copyRow(source, in: transaction)
                        // A page that is linked twice leads back to lower numbers.
                        reached = max(reached, sequence)
                    case .nonsense: continue
                    case .end, .damage: return step
                    }
                }
                return step
            }
            self.highest = max(self.highest, reached)
            switch step {
            case .row, .nonsense: continue
            case .end: return nil
            case .damage: return reached
            }
        }
    }

    /// - Returns: the number of bytes written; 0 for a message that is there already.
    private func copyRow(_ source: InboxSource, in transaction: InboxTransaction) throws(InboxError) -> Int64 {
        let (row, insertion) = (source.rows, self.insertion)
        let (leading, further) = (Int32(InboxSource.leading.count), Int32(source.furtherColumns.count))
        for column in 0..<leading { try insertion.bind(column + 1, valueOf: column, in: row) }
        let bytes = InboxCounts.bytes(topic: row.text(4)?.utf8.count ?? 0, payload: row.withBlob(5) { $0.count })
        try insertion.bind(leading + 1, bytes)
        for column in leading..<leading + further { try insertion.bind(column + 2, valueOf: column, in: row) }
        // The next installation with the old key would get the message.
        let key = self.keys[row.integer(1)]
        try insertion.bind(2, key ?? InboxSchema.unknownInstallation)
        var state = RowState.dead
        if key == nil {
            try insertion.bind(4, InboxSalvage.unknownInstallation)
        } else if !row.isNull(2), let known = RowState(rawValue: row.integer(2)), known != .done {
            state = known
        } else {
            try insertion.bind(4, InboxSalvage.unknownState)
        }
        let isUnclear = state == .dead && RowState(rawValue: row.integer(2)) != .dead
        try insertion.bind(3, state.rawValue)
        do throws(InboxError) {
            try insertion.run()
        } catch {
            // It undoes only the statement: a row that the new file refuses is no reason to lose the others.
            guard error.code == SQLITE_CONSTRAINT else { throw error }
            return 0
        }
        try self.copyEvents(of: row.integer(0), source)
        transaction.count(row.integer(0), bytes, in: state)
        self.takenOver += 1
        self.unread.remove(row.integer(0))
        if isUnclear { self.unclear += 1 }
        return bytes
    }

    /// Copies the events of the current message, as far as they can be read. The message's record tells what is
    /// missing.
    private func copyEvents(of sequence: Int64, _ source: InboxSource) throws(InboxError) {
        guard let events = source.events, source.hasEvents, (try? events.bind(1, sequence)) != nil else { return }
        defer { events.reset() }
        let insertion = self.fresh.statements.addEvent
        while (try? events.next()) == true {
            try insertion.bind(1, sequence)
            for column in 0..<Int32(7) { try insertion.bind(column + 2, valueOf: column, in: events) }
            try insertion.run()
        }
    }
}
