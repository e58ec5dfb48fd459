import CSQLite

/// Takes over every message of a damaged file that can be read and is not done, in the order of reception.
/// Where reading fails, it goes on behind the damage. Which messages come next is known from the file's indexes, as far
/// as they can be read; otherwise the numbers are searched for the next one that can be.
final class InboxSalvage {
    private let source: InboxSource?
    private let fresh: Inbox
    private let insertion: SQLiteStatement
    /// What the file counted: as this process knew it, or else as the file says.
    private let ledger: InboxLedger?
    private let mark: InboxMark?
    /// How many messages that are not done the indexes know; `nil` when they cannot be read.
    private var indexed: Int?
    /// The numbers of those that were not taken over (yet).
    private var unread: Set<Int64> = []
    private let notices: [InboxNotice]
    private let installations: [Int64: InboxSource.Installation]
    /// The key in the new file of each that the damaged one has: a damaged file may have one ID under two keys.
    private let keys: [Int64: Int64]
    private var highest: Int64 = 0
    private var takenOver = 0
    /// How many of those that were taken over are dead letters because something of them could not be read.
    private var unclear = 0

    private static let batchBytes: Int64 = 4 << 20
    /// So often a search may fail: for each page of the file as often as the numbers there are can be halved.
    private static let probesPerPage = 64
    private static let probes = 100_000
    /// Numbers that are left out where the last ones may not be known: more than a mark is late by, a second's worth.
    private static let gap: Int64 = 1_000_000
    /// Why a message is dead whose installation could not be read, and one that may be done.
    private static let unknownInstallation = "damaged inbox: whom it was for could not be read"
    private static let unknownState = "damaged inbox: whether it was handled could not be read"

    init(from path: String, into fresh: Inbox, _ remembered: Inbox.Remembered?, _ mark: InboxMark?) {
        // A file that cannot even be looked into has nothing to give.
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

    /// Throws when the new file cannot be written. What cannot be read is counted. `path` is where the damaged file will
    /// be kept, and `reason` is what is wrong with it.
    func run(now: Timestamp, keptAt path: String, reason: String) throws(InboxError) {
        if let source { try self.copyMessages(source) }
        let lost = self.lostCount.map { Int($0) }
        let safe = self.safeSequence(now: now)
        try self.fresh.transaction { transaction throws(InboxError) in
            for (key, installation) in self.installations {
                // Where it is not known what has arrived, a redelivery is better taken for new than lost.
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

    /// How many messages that the file's ledger does not know were not done, at most.
    private var missing: Int64 { self.ledger.flatMap { self.mark?.missing(from: $0) } ?? 0 }

    /// How many messages were not done, as far as anything says so.
    private var unfinished: Int64? { (self.ledger?.unfinished ?? self.mark?.unfinished).map { $0 + self.missing } }

    /// How many were there and could not be read, at least; `nil` when nothing says how many there were. A page of an older
    /// time lacks later messages: where the indexes know as many as were counted, each of theirs is looked for.
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
        // At fewer than a million messages a second, all the time.
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
            // One by one until one can be read: behind it the rest may be as it was.
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

    /// Takes over as dead letters the messages that the indexes have as open and the table has as done: it is unclear
    /// which of the two is right, unless the table has as many open messages as were counted.
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

    /// Copies the messages of a range of numbers until one cannot be read. Returns the last number; `nil` for all.
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

    /// - Returns: how many bytes were written; 0 for a message that is there already.
    private func copyRow(_ source: InboxSource, in transaction: InboxTransaction) throws(InboxError) -> Int64 {
        let (row, insertion) = (source.rows, self.insertion)
        let (leading, further) = (Int32(InboxSource.leading.count), Int32(source.furtherColumns.count))
        for column in 0..<leading { try insertion.bind(column + 1, valueOf: column, in: row) }
        let bytes = InboxCounts.bytes(topic: row.text(4)?.utf8.count ?? 0, payload: row.withBlob(5) { $0.count })
        try insertion.bind(leading + 1, bytes)
        for column in leading..<leading + further { try insertion.bind(column + 2, valueOf: column, in: row) }
        // Under its own key it would be handed to whoever gets that key next.
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
            // It undoes the statement alone: one row that the new file does not take is no reason to lose the others.
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

    /// Copies what happened to the message that is read, as far as it can be: what is missing its record says.
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
