/// The writes of one ``Inbox/transaction(_:)``. Using this value after the transaction is a programmer error and traps.
package struct InboxTransaction {
    // Not `~Copyable`: the optimiser of Swift 6.3 crashes when it specialises a function whose closure borrows such a
    // value.
    private let owner: Inbox
    private let number: Int

    init(_ inbox: Inbox) { (self.owner, self.number) = (inbox, inbox.transactionNumber) }

    var statements: InboxStatements { self.inbox.statements }
    private var inbox: Inbox {
        precondition(self.owner.transactionNumber == self.number, "this transaction is over")
        return self.owner
    }

    /// - Parameters:
    ///   - storedAt: the start of this transaction, for the record; `nil`: not recorded.
    ///   - acknowledgedAt: the time of the acknowledgement; `nil` if there is none yet.
    @discardableResult
    package func insert(
        _ row: StoredMessage, storedAt: Timestamp? = nil, acknowledgedAt: Timestamp? = nil
    ) throws(InboxError) -> Int64 {
        let sequence = self.inbox.pending.lastSequence + 1
        let bytes = row.countedBytes
        let isDead = row.state == .dead
        let statement = self.statements.insert
        try statement.bind(
            from: 1, [sequence, row.installation, row.state.rawValue, bytes, row.receivedAt.millisecondsSinceEpoch])
        try statement.bind(from: 6, [Int64(row.qos), row.duplicate ? 1 : 0, row.retain ? 1 : 0])
        try statement.bind(from: 9, [row.packetID.map(Int64.init), row.connection, row.originalLength.map(Int64.init)])
        try statement.bind(12, row.reason)
        try statement.bind(13, row.topic)
        try statement.bind(14, blob: row.payload)
        let acknowledged = acknowledgedAt?.millisecondsSinceEpoch
        try statement.bind(from: 15, [storedAt?.millisecondsSinceEpoch, row.source, isDead ? 1 : 0, acknowledged])
        try statement.run()
        if isDead {
            let reason = DeadLetterReason(row.reason ?? "")
            try self.add(.dead(reason, attempt: nil), to: sequence, at: storedAt ?? row.receivedAt)
        }
        self.count(sequence, bytes, in: row.state)
        // No handler may see this row, so it counts towards the limit of refused rows.
        if isDead { try self.inbox.boundRefused(sequence, bytes: bytes, in: self) }
        return sequence
    }

    /// Counts a redelivery of this row. Returns the row's state; `nil` if the row does not exist.
    @discardableResult
    package func absorb(into sequence: Int64, at now: Timestamp) throws(InboxError) -> RowState? {
        guard let standing = try self.standing(of: sequence) else { return nil }
        let events = try self.add(.duplicate, to: sequence, after: standing.events, at: now)
        try self.statements.absorb.run(sequence, events)
        self.inbox.pending.received += 1
        self.inbox.pending.duplicates += 1
        return standing.state
    }

    /// Sets the state of `row`, which this transaction has read, to `inHand`. Keeps an earlier time of acknowledgement.
    package func take(_ row: StoredMessage, acknowledgedAt: Timestamp?, at now: Timestamp) throws(InboxError) {
        let statement = self.statements.take
        try statement.bind(from: 1, [row.sequence, now.millisecondsSinceEpoch, acknowledgedAt?.millisecondsSinceEpoch])
        try statement.run()
        self.move(row.countedBytes, from: row.state, to: .inHand)
    }

    /// Records a success in one statement. Returns false, without a change, unless the row is `inHand` and has this
    /// number of bytes.
    private func finish(
        _ change: MessageChange, bytes: Int, acknowledgedAt: Timestamp?, startedAt: Timestamp?, at now: Timestamp
    ) throws(InboxError) -> Bool {
        let counted = InboxCounts.bytes(topic: 0, payload: bytes)
        let statement = self.statements.finish
        try statement.bind(
            from: 1,
            [
                change.sequence, now.millisecondsSinceEpoch, acknowledgedAt?.millisecondsSinceEpoch,
                startedAt?.millisecondsSinceEpoch, self.code(of: change.answer), counted,
            ])
        try statement.run()
        guard self.inbox.connection.changedRows > 0 else { return false }
        self.move(counted, from: .inHand, to: .done)
        self.inbox.pruning.becameDone(change.sequence)
        return true
    }

    /// Applies the outcome of a delivery. Returns the row's new state and source; `nil`, without a change, if the row
    /// does not exist or is not in the state `change.onlyIn`.
    ///
    /// - Parameter acknowledgedAt: the time of the acknowledgement. An earlier time is not overwritten.
    @discardableResult
    package func update(
        _ change: MessageChange, acknowledgedAt: Timestamp? = nil, at clock: TurnClock
    ) throws(InboxError) -> (state: RowState, source: Int64?)? {
        let now = change.time(by: clock)
        let startedAt = change.startedAt(by: clock)
        if change.isCommonEnd, let bytes = change.bytes,
            try self.finish(change, bytes: bytes, acknowledgedAt: acknowledgedAt, startedAt: startedAt, at: now)
        {
            return (.done, nil)
        }
        guard let standing = try self.standing(of: change.sequence), (change.onlyIn ?? standing.state) == standing.state
        else { return nil }
        let openedBy = change.openedBy
        let staysInHand = openedBy != nil && standing.state == .inHand
        let state = staysInHand ? .inHand : change.state
        let keepsNumbers = staysInHand || change.keepsNumbers
        let source = change.source ?? standing.source
        let statement = self.statements.update
        try statement.bind(
            from: 1,
            [
                change.sequence, state.rawValue, keepsNumbers ? nil : Int64(change.attempts),
                keepsNumbers ? nil : Int64(change.crashes),
                change.nextAttempt(after: clock.now)?.millisecondsSinceEpoch,
            ])
        try statement.bind(6, change.reason)
        try statement.bind(
            from: 7,
            [
                now.millisecondsSinceEpoch, acknowledgedAt?.millisecondsSinceEpoch,
                state == .done ? startedAt?.millisecondsSinceEpoch : nil, self.code(of: change.answer),
            ])
        var events = standing.events
        if let event = change.event {
            events = try self.add(
                event, to: change.sequence, after: events, at: now, attempt: change.attempt?.number,
                startedAt: startedAt)
        }
        try statement.bind(11, events)
        try statement.bind(12, openedBy?.stored)
        try statement.bind(from: 13, [change.source == nil ? 0 : 1, source])
        try statement.run()
        self.move(standing, to: state)
        switch change.verdict {
        case .dead(.undecodable), .dead(.unexpectedTopic), .dead(.oversized):
            try self.inbox.boundRefused(change.sequence, bytes: standing.bytes, in: self)
        default: break
        }
        if state == .done { self.inbox.pruning.becameDone(change.sequence) }
        return (state, source)
    }

    private func code(of answer: FetchResult?) -> Int64? { answer.map { $0 == .newData ? 0 : 1 } }

    /// Shifts the due times of all retries, after the calendar clock was set by `shift`.
    package func moveRetries(by shift: Duration) throws(InboxError) {
        try self.statements.moveRetries.run(shift.wholeNanoseconds / 1_000_000)
    }

    /// Makes a message wait again; false if the row does not exist. Attempts restart at 0, except for a row in state
    /// `retry`.
    @discardableResult
    package func requeue(_ sequence: Int64, source: Int64? = nil, at now: Timestamp) throws(InboxError) -> Bool {
        guard let standing = try self.standing(of: sequence) else { return false }
        var events = standing.events
        if standing.state != .retry { events = try self.add(.retried, to: sequence, after: events, at: now) }
        try self.statements.requeue.run(sequence, now, events, source)
        self.move(standing, to: .waiting)
        return true
    }

    /// Removes a row; false if the row does not exist. A removed done message still counts as done.
    @discardableResult
    package func drop(_ sequence: Int64) throws(InboxError) -> Bool { try self.remove(sequence, isDropped: true) }

    func remove(_ sequence: Int64, in state: RowState? = nil, isDropped: Bool = false) throws(InboxError) -> Bool {
        guard let standing = try self.standing(of: sequence), state == nil || state == standing.state
        else { return false }
        try self.statements.delete.run(sequence)
        if standing.events > 0 { try self.statements.deleteEvents.run(sequence) }
        self.inbox.pending.counts[standing.state].add(-standing.bytes, rows: -1)
        if standing.isRefused { self.inbox.refused.tally?.add(-standing.bytes, rows: -1) }
        if standing.state == .done {
            self.inbox.pending.pruned += 1
        } else if isDropped {
            self.inbox.pending.dropped += 1
        } else {
            self.inbox.pending.expired += 1
        }
        return true
    }

    package func installation(id: String) throws(InboxError) -> Int64 {
        if let key = try self.inbox.installation(id: id) { return key }
        try self.statements.addInstallation.run(id)
        guard let key = try self.inbox.installation(id: id)
        else { throw InboxError(.corrupt, step: "adding an installation") }
        return key
    }

    /// Records the installation's owner. Afterwards the installation handles its own messages.
    package func set(_ owner: InboxOwner, of installation: Int64) throws(InboxError) {
        try self.statements.own.run(installation, owner.site, owner.app, owner.principal)
    }

    /// `installation` then handles the messages of `former`, and of installations that `former` has taken over.
    package func adopt(_ former: Int64, by installation: Int64) throws(InboxError) {
        try self.statements.adopt.run(former, installation)
    }

    /// Records that the broker will not send rows up to `sequence` again.
    package func markProven(installation: Int64, through sequence: Int64) throws(InboxError) {
        try self.statements.prove.run(installation, sequence)
    }

    func count(_ sequence: Int64, _ bytes: Int64, in state: RowState) {
        self.inbox.pending.lastSequence = max(self.inbox.pending.lastSequence, sequence)
        self.inbox.pending.received += 1
        self.inbox.pending.counts[state].add(bytes)
    }

    /// Continues the counts of the old file. Messages without another count are counted as done.
    func restoreLedger(_ old: InboxLedger?, _ mark: InboxMark?, lost: Int64, lastSequence: Int64) {
        var ledger = self.inbox.pending
        ledger.lastSequence = lastSequence
        (ledger.duplicates, ledger.expired) = (old?.duplicates ?? 0, old?.expired ?? 0)
        ledger.dropped = old?.dropped ?? 0
        ledger.lost = max(old?.lost ?? 0, mark?.lost ?? 0) + lost
        let gone = ledger.expired + ledger.dropped + ledger.lost
        ledger.pruned = max(0, max(mark?.stored ?? 0, old?.stored ?? 0) - ledger.counts.rows - gone)
        ledger.received = ledger.duplicates + ledger.counts.rows + ledger.pruned + gone
        self.inbox.pending = ledger
    }

    private func move(_ standing: Standing, to new: RowState) {
        if standing.isRefused { self.inbox.refused.tally?.add(-standing.bytes, rows: -1) }
        self.move(standing.bytes, from: standing.state, to: new)
    }

    private func move(_ bytes: Int64, from old: RowState, to new: RowState) {
        guard old != new else { return }
        self.inbox.pending.counts[old].add(-bytes, rows: -1)
        self.inbox.pending.counts[new].add(bytes)
    }

    // MARK: - Events

    /// Records at most 256 events of a message. Returns the new number of events, which the caller writes into the row.
    @discardableResult
    private func add(
        _ event: MessageEvent.Kind, to sequence: Int64, after count: Int64 = 0, at now: Timestamp,
        attempt: Int? = nil, startedAt: Timestamp? = nil
    ) throws(InboxError) -> Int64 {
        guard count < InboxSchema.eventLimit else { return InboxSchema.eventCounts.upperBound }
        let parts = event.parts
        let (number, attempt) = (count + 1, parts.attempt ?? attempt)
        let pause = parts.pause.map { $0.wholeNanoseconds / 1_000_000 }
        try self.statements.addEvent.run(sequence, number, now, parts.code, attempt, startedAt, pause, parts.detail)
        return number
    }

    private struct Standing {
        var state: RowState
        var bytes: Int64
        var events: Int64
        var isRefused: Bool
        var source: Int64?
    }

    private func standing(of sequence: Int64) throws(InboxError) -> Standing? {
        let statement = self.statements.standing
        defer { statement.reset() }
        try statement.bind(1, sequence)
        guard try statement.next() else { return nil }
        guard let state = RowState(rawValue: statement.integer(0))
        else { throw InboxError(.corrupt, step: "reading a state") }
        return Standing(
            state: state, bytes: statement.integer(1, within: InboxCounts.rowBytes),
            events: statement.integer(2, within: InboxSchema.eventCounts), isRefused: statement.integer(3) != 0,
            source: statement.optionalInteger(4))
    }
}
