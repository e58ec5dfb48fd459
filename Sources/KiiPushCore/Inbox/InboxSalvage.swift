import CSQLite

/// Copies every readable message that is not done from a damaged file, in the order of reception.
///
/// After an unreadable place, the file's indexes name the next messages. If the indexes are unreadable too, a search by
/// halving the range of numbers finds the next readable message.
final class InboxSalvage {
    private let source: InboxSource?
    private let fresh: Inbox
    private let insertion: SQLiteStatement
    private let damage: Inbox.Damage
    private let ledger: InboxLedger?
    private let mark: InboxMark?
    /// Unfinished messages according to the indexes; `nil` if an index is unreadable.
    private var indexed: Int?
    private var unread: Set<Int64> = []
    private let notices: [InboxNotice]
    private let installations: [Int64: InboxSource.Installation]
    /// The installation keys in the new file, by key in the damaged file. There one installation may have two keys.
    private let keys: [Int64: Int64]
    private var highest: Int64 = 0
    private var takenOver = 0
    private var unclear = 0

    private static let batchBytes: Int64 = 4 << 20
    /// A search ends after this many failed reads for each page of the file, and after `probes` failed reads at most.
    private static let probesPerPage = 64
    private static let probes = 100_000
    /// More than the messages of one second. A mark may be 1 s old, so this many numbers are skipped.
    private static let gap: Int64 = 1_000_000
    private static let unknownInstallation = "damaged inbox: whom it was for could not be read"
    private static let unknownState = "damaged inbox: whether it was handled could not be read"

    init(from path: String, into fresh: Inbox, _ damage: Inbox.Damage, _ mark: InboxMark?) {
        let source = try? InboxSource(path, columnsOf: fresh.connection)
        let columns = InboxSource.leading + ["bytes"] + (source?.furtherColumns ?? [])
        let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        self.insertion = SQLiteStatement(
            fresh.connection, "INSERT INTO message (\(columns.joined(separator: ", "))) VALUES (\(values))",
            step: "taking a message over")
        (self.source, self.fresh, self.damage, self.mark) = (source, fresh, damage, mark)
        self.ledger = damage.ledger ?? source?.ledger()
        self.notices = damage.notices ?? source?.notices() ?? []
        (self.installations, self.keys) = InboxSalvage.merge(source?.installations() ?? [:], damage.installations)
    }

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

    /// Does not throw for damage in the old file.
    func run(keptAt path: String) throws(InboxError) {
        if let source { try self.copyMessages(source) }
        let lost = self.lostCount.map { Int($0) }
        let safe = self.safeSequence
        try self.fresh.transaction { transaction throws(InboxError) in
            for (key, installation) in self.installations {
                // If it is unknown which acknowledgements arrived, redeliveries are stored as new messages. A duplicate
                // is better than a loss.
                try transaction.statements.restoreInstallation.run(key, installation.id, installation.proven ?? safe)
                if let owner = installation.owner { try transaction.set(owner, of: key) }
                if let adopter = installation.adopter.flatMap({ self.keys[$0] }) {
                    try transaction.adopt(key, by: adopter)
                }
            }
            transaction.restoreLedger(self.ledger, self.mark, lost: Int64(lost ?? 0), lastSequence: safe)
            let reason = self.damage.reason + self.remark
            let notice = InboxNotice(path: path, reason: reason, takenOver: self.takenOver, lost: lost)
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

    private var missing: Int64 { self.ledger.flatMap { self.mark?.missing(from: $0) } ?? 0 }

    private var unfinished: Int64? { (self.ledger?.unfinished ?? self.mark?.unfinished).map { $0 + self.missing } }

    /// The least number of lost messages; `nil` if unknown. An outdated index page lacks later messages, so readable
    /// counts in the file or its mark file must confirm the indexes.
    private var lostCount: Int64? {
        let unread = Int64(self.unread.count)
        if let indexed = self.indexed.map({ Int64($0) }) {
            if indexed == self.ledger?.unfinished { return unread + self.missing }
            if indexed == self.mark?.unfinished { return unread }
        }
        guard let unfinished else { return self.indexed == nil ? nil : unread }
        return max(unread, unfinished - Int64(self.takenOver))
    }

    private var safeSequence: Int64 {
        let last = max(self.highest, self.ledger?.lastSequence ?? 0)
        if let mark, self.ledger.map(mark.isAhead) ?? true { return min(max(last, mark.sequence) + Self.gap, 1 << 56) }
        // Without a ledger: microseconds since 1970. Earlier numbers are lower, at less than a million messages a
        // second.
        return self.ledger == nil ? max(last, self.damage.foundAt.millisecondsSinceEpoch * 1000) : last
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
            // Reads single messages until one is readable. The messages after it may be intact.
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

    /// Decides about messages that are open in the indexes and done in the table. They are done if the number of copied
    /// messages equals the file's count. Otherwise they become dead letters.
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

    /// Returns the last number before the first unreadable place; `nil` if all messages were readable.
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
                        // A page that is linked twice repeats lower numbers.
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

    private func copyRow(_ source: InboxSource, in transaction: InboxTransaction) throws(InboxError) -> Int64 {
        let (row, insertion) = (source.rows, self.insertion)
        let (leading, further) = (Int32(InboxSource.leading.count), Int32(source.furtherColumns.count))
        for column in 0..<leading { try insertion.bind(column + 1, valueOf: column, in: row) }
        let bytes = InboxCounts.bytes(topic: row.text(4)?.utf8.count ?? 0, payload: row.withBlob(5) { $0.count })
        try insertion.bind(leading + 1, bytes)
        for column in leading..<leading + further { try insertion.bind(column + 2, valueOf: column, in: row) }
        // An unknown installation key is replaced: a later installation could get this key, and with it the message.
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
            // A violated constraint undoes only this statement, so the other rows are still copied.
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
