extension Inbox {
    package func row(_ sequence: Int64) throws(InboxError) -> StoredMessage? {
        try self.statements.row.first(sequence) { row throws(InboxError) in try StoredMessage(readingFrom: row) }
    }

    /// Returns at most `limit` rows, and ends before the first row for which `hasRoom` returns false.
    package func rows(
        _ state: RowState, installation: Int64, after sequence: Int64 = 0, limit: Int,
        while hasRoom: (StoredMessage) -> Bool = { _ in true }
    ) throws(InboxError) -> [StoredMessage] {
        let page = try self.statements.page.bound(to: [installation, state.rawValue, sequence, limit])
        return try self.rows(of: page, after: sequence, while: hasRoom)
    }

    package func rows(
        ofSource source: Int64, installation: Int64, before sequence: Int64?, limit: Int,
        while hasRoom: (StoredMessage) -> Bool = { _ in true }
    ) throws(InboxError) -> [StoredMessage] {
        let page = try self.statements.ofSource.bound(to: [installation, source, sequence ?? .max, limit])
        return try self.rows(of: page, after: 0, while: hasRoom)
    }

    package func rowsOfNoSource(
        installation: Int64, after sequence: Int64, limit: Int, while hasRoom: (StoredMessage) -> Bool = { _ in true }
    ) throws(InboxError) -> [StoredMessage] {
        let page = try self.statements.ofNoSource.bound(to: [installation, sequence, limit])
        return try self.rows(of: page, after: sequence, while: hasRoom)
    }

    package func sources(installation: Int64, after number: Int64?, limit: Int) throws(InboxError) -> [Int64] {
        var sources: [Int64] = []
        while sources.count < limit {
            guard let last = sources.last ?? number else {
                guard let first = try self.statements.firstSource.first(installation, read: { $0.optionalInteger(0) })
                else { break }
                sources.append(first)
                continue
            }
            guard let next = try self.statements.nextSource.first(installation, last, read: { $0.optionalInteger(0) })
            else { break }
            // In a damaged index the next source may have a lower number.
            guard next > last else { throw InboxError(.corrupt, step: "looking for sources") }
            sources.append(next)
        }
        return sources
    }

    package func sequences(_ states: Set<RowState>, after sequence: Int64, limit: Int) throws(InboxError) -> [Int64] {
        var last = sequence
        let wanted = states.reduce(Int64(0)) { $0 | 1 << $1.rawValue }
        return try self.statements.sequences.all(sequence, wanted, limit) { row throws(InboxError) in
            // In a damaged table a later row may have a lower number. Paging would then never end.
            guard row.integer(0) > last else { throw InboxError(.corrupt, step: "reading messages") }
            last = row.integer(0)
            return last
        }
    }

    package func deadLetters(after sequence: Int64 = 0, limit: Int) throws(InboxError) -> [StoredMessage] {
        try self.rows(of: self.statements.deadLetters.bound(to: [sequence, limit]), after: sequence)
    }

    /// Returns messages whose retry is due at `now`, the longest due first. Then come retries due after `now +
    /// longestDelay`: no delay is that long, so the clock was set back.
    package func dueRetries(
        installation: Int64, now: Timestamp, longestDelay: Duration, limit: Int,
        while hasRoom: (StoredMessage) -> Bool = { _ in true }
    ) throws(InboxError) -> [StoredMessage] {
        let due = try self.rows(of: self.statements.dueRetries.bound(to: [installation, now, limit]), while: hasRoom)
        guard due.count < limit else { return due }
        let ahead = self.statements.retriesTooFarAhead
        try ahead.bound(to: [installation, now + longestDelay, limit - due.count])
        return try due + self.rows(of: ahead, while: hasRoom)
    }

    package func nextRetry(installation: Int64) throws(InboxError) -> Timestamp? {
        try self.statements.nextRetry.first(installation) { $0.optionalTime(0) }
    }

    package func matches(
        _ sequence: Int64, topic: String, payload: [UInt8], originalLength: Int? = nil
    ) throws(InboxError) -> Bool {
        try self.statements.bytes.first(sequence) { row in
            row.text(0)?.hasBytes(of: topic) == true && row.optionalInteger(1) == originalLength.map { Int64($0) }
                && row.withBlob(2) { $0.elementsEqual(payload) }
        } ?? false
    }

    package func installation(id: String) throws(InboxError) -> Int64? {
        try self.statements.findInstallation.first(id) { $0.integer(0) }
    }

    package func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64 {
        var sum: Int64 = 0
        for key in try self.statements.installations.all(read: { $0.integer(0) }) where !installations.contains(key) {
            sum += try self.statements.openBytes.first(key) { $0.integer(0, within: 0...(1 << 48)) } ?? 0
        }
        return sum
    }

    package func unproven(installation: Int64, after sequence: Int64? = nil) throws(InboxError) -> [UnprovenRow] {
        try self.statements.unproven.all(sequence, installation) { row in
            UInt16(exactly: row.integer(1)).map { UnprovenRow(sequence: row.integer(0), packetID: $0) }
        }
    }

    /// Reads the rows of all installations in one pass over the table. A pass for a single installation takes as long.
    package func unproven() throws(InboxError) -> [Int64: [UnprovenRow]] {
        var rows: [Int64: [UnprovenRow]] = [:]
        try self.statements.allUnproven.forEach { row in
            guard let packetID = UInt16(exactly: row.integer(2)) else { return true }
            rows[row.integer(0), default: []].append(UnprovenRow(sequence: row.integer(1), packetID: packetID))
            return true
        }
        return rows
    }

    private func rows(
        of statement: SQLiteStatement, after sequence: Int64? = nil,
        while hasRoom: (StoredMessage) -> Bool = { _ in true }
    ) throws(InboxError) -> [StoredMessage] {
        defer { statement.reset() }
        var rows: [StoredMessage] = []
        while try statement.next() {
            let row = try StoredMessage(readingFrom: statement)
            if let sequence, row.sequence <= rows.last?.sequence ?? sequence {
                throw InboxError(.corrupt, step: "reading messages")
            }
            guard hasRoom(row) else { break }
            rows.append(row)
        }
        return rows
    }
}

extension StoredMessage {
    /// The columns of a row in a file and in PostgreSQL, in the order of reading.
    package static let columns = [
        "sequence", "installation", "state", "attempts", "crashes", "next_attempt_ms", "updated_ms", "received_ms",
        "qos", "duplicate", "retain", "packet_id", "connection", "original_length", "reason", "topic", "payload",
        "opened", "source",
    ]

    /// An upper bound for damaged rows: above every configurable number of attempts, and safe for arithmetic.
    static let mostAttempts: ClosedRange<Int64> = 0...1_000_000

    var countedBytes: Int64 { InboxCounts.bytes(topic: 0, payload: self.bytes) }

    /// Reads the ``columns``. Clamps numbers from a damaged page where a conversion or
    /// arithmetic could trap.
    init(readingFrom statement: SQLiteStatement) throws(InboxError) {
        guard let state = RowState(rawValue: statement.integer(2)), let topic = statement.text(15)
        else { throw InboxError(.corrupt, step: "reading a message") }
        self.init(
            sequence: statement.integer(0), installation: statement.integer(1), topic: topic,
            payload: statement.blob(16),
            originalLength: statement.optionalInteger(13, within: InboxCounts.rowBytes).map { Int($0) },
            qos: UInt8(statement.integer(8, within: 0...2)), duplicate: statement.integer(9) != 0,
            retain: statement.integer(10) != 0,
            packetID: statement.optionalInteger(11).flatMap { UInt16(exactly: $0) },
            connection: statement.integer(12), receivedAt: statement.time(7), state: state,
            reason: statement.text(14), attempts: Int(statement.integer(3, within: Self.mostAttempts)),
            crashes: Int(statement.integer(4, within: Self.mostAttempts)), nextAttempt: statement.optionalTime(5),
            updatedAt: statement.time(6), openedBy: statement.text(17).map(UserAction.init(stored:)),
            source: statement.optionalInteger(18))
    }
}

/// A row whose acknowledgement may not have reached the broker.
package struct UnprovenRow: Sendable, Hashable {
    package var sequence: Int64
    package var packetID: UInt16

    package init(sequence: Int64, packetID: UInt16) { (self.sequence, self.packetID) = (sequence, packetID) }
}
