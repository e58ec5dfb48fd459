/// Stores messages in an ``Inbox`` file. A committed turn survives the end of the process and a power cut.
package final class FileStore: Store {
    let path: String
    let configuration: Inbox.Configuration
    /// `nil` while a damaged file waits for its replacement.
    var inbox: Inbox?
    var damage: Inbox.Damage?
    var replacedAt: MonotonicInstant?
    var replacements = 0
    var mark: (written: InboxMark, at: MonotonicInstant)?
    private(set) var installations: [Int64: String] = [:]
    private var room: InboxRoom
    let longestDelay: Duration
    private var provenThrough: [Int64: Int64] = [:]
    private var calendarShift = Duration.zero
    var acknowledgements = AcknowledgementTimes()
    /// Rows of earlier processes that the broker may deliver again, by installation.
    private var earlierUnproven: (rows: [Int64: [UnprovenRow]], replacements: Int)?
    private var hasAsked: Set<Int64> = []
    private var retries = 0
    private var seenReplacements = 0

    /// Makes a missing file. No retry waits longer than `longestDelay`. `freeBytes` returns the free bytes of the disk.
    package init(
        path: String, configuration: Inbox.Configuration, longestDelay: Duration,
        freeBytes: @escaping (String) -> Int64? = InboxRoom.freeBytes(at:)
    ) throws(InboxError) {
        (self.path, self.configuration, self.longestDelay) = (path, configuration, longestDelay)
        self.room = InboxRoom(of: path, clocks: configuration.clocks, freeBytes: freeBytes)
        do throws(InboxError) {
            try self.open()
        } catch {
            guard error.kind == .full else { throw error }
            // Opening needs a little room, which the reserve file may hold.
            self.room.giveUpReserve()
            try self.open()
        }
        self.seenReplacements = self.replacements
    }

    package var isDurable: Bool { true }
    package var hasMoreToWrite: Bool { !self.provenThrough.isEmpty || self.calendarShift != .zero }
    package var pendingBytes: Int64 {
        (self.inbox?.ledger ?? self.damage?.ledger)?.counts.pendingBytes ?? 0
    }
    package var deadLetterStock: DeadLetterStock? {
        self.inbox.map { DeadLetterStock($0.counts[.dead], limit: $0.deadLimit) }
    }
    package var pendingShare: Int64 { self.room.shares.waitingBytes }
    package var commitBytes: Int64? {
        self.room.shares.transactionBytes ?? (self.room.hasReserve ? nil : InboxShares.mostInScarcity)
    }
    package var ledger: MessageLedger {
        self.inbox?.messageLedger ?? self.damage?.ledger?.summary ?? MessageLedger()
    }
    package var backlogRevision: Int { self.retries + self.replacements }
    package var notices: [InboxNotice] { self.inbox?.notices ?? [] }

    package func close() { self.writeMark(isFlushed: true) }

    /// If this fails, the next process reports the notices again.
    package func removeNotices() {
        let told = self.replacements
        try? self.use { inbox throws(InboxError) in
            // If the file was replaced meanwhile, no agent has reported the new file's notice.
            guard self.replacements == told else { return }
            try inbox.removeNotices()
        }
    }

    package func makeRoom() -> Int? {
        self.room.giveUpReserve()
        // If this fails, the next commit reports the reason.
        let removed = try? self.use { inbox throws(InboxError) in
            inbox.shares = self.room.shares
            return try inbox.makeRoom()
        }
        self.room.check()
        return removed
    }

    // MARK: - Turns

    package func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>) {
        completion(Result { () throws(InboxError) in try self.commit(turn) })
    }

    private func commit(_ turn: Turn) throws(InboxError) -> TurnOutcome {
        self.room.checkIfDue()
        guard self.room.hasReserve || turn.arrivals.isEmpty
        else { throw InboxError(.full, step: "finding room for messages") }
        var isAgain = false
        var outcome = try self.use { inbox throws(InboxError) in
            inbox.shares = self.room.shares
            // SQLite's log could not be written before. It must not grow larger than the reserve.
            if inbox.log.failure != nil { try inbox.writeLog(emptying: true) }
            // Second try: the new file may lack rows of the damaged one.
            if isAgain { for arrival in turn.arrivals { arrival.link.forgetAbsorptions() } }
            isAgain = true
            return try self.write(turn, into: inbox)
        }
        self.provenThrough.removeAll(keepingCapacity: true)
        self.calendarShift = .zero
        if let due = self.markIsDue { outcome.upkeepDue = min(due, outcome.upkeepDue ?? due) }
        outcome.isMoved = self.replacements != self.seenReplacements
        self.seenReplacements = self.replacements
        return outcome
    }

    private func write(_ turn: Turn, into inbox: Inbox) throws(InboxError) -> TurnOutcome {
        let clock = TurnClock(inbox.configuration.clocks)
        let now = clock.now
        return try inbox.transaction { transaction throws(InboxError) in
            // Existing retries move first: the rows of this turn use the new calendar already.
            if self.calendarShift != .zero { try transaction.moveRetries(by: self.calendarShift) }
            var outcome = TurnOutcome()
            let changes = turn.changes.span
            for index in changes.indices { try self.apply(changes[index], in: transaction, clock, into: &outcome) }
            outcome.arrivals.reserveCapacity(turn.arrivals.count)
            let arrivals = turn.arrivals.span
            for index in arrivals.indices {
                outcome.arrivals.append(try self.store(arrivals[index], in: inbox, transaction, at: now))
            }
            for claim in turn.claims {
                outcome.answers.append(try self.answer(claim, of: inbox, in: transaction, at: now))
            }
            for (installation, sequence) in self.provenThrough {
                try transaction.markProven(installation: installation, through: sequence)
            }
            outcome.upkeepDue = try inbox.prune(now: now, in: transaction)
            outcome.removedDeadLetters = inbox.refused.removed
            return outcome
        }
    }

    private func apply(
        _ change: MessageChange, in transaction: borrowing InboxTransaction, _ clock: TurnClock,
        into outcome: inout TurnOutcome
    ) throws(InboxError) {
        let acknowledgedAt = self.acknowledgements.time(of: change.sequence)
        let update = try transaction.update(change, acknowledgedAt: acknowledgedAt, at: clock)
        switch change.verdict {
        case .opened, .unpresented:
            guard let update, update.state == .waiting else { return }
            outcome.appeared.append(
                .init(sequence: change.sequence, installation: change.installation, source: update.source))
        case .done, .committing, .retry, .inHand, .waiting, .setAside, .presented, .dead, .unopened: return
        }
    }

    private func store(
        _ arrival: Arrival, in inbox: Inbox, _ transaction: borrowing InboxTransaction, at now: Timestamp
    ) throws(InboxError) -> StoredArrival {
        let message = arrival.message
        if let row = arrival.link.redeliveryCandidate(of: arrival) {
            let isSame = try inbox.matches(
                row, topic: message.topic, payload: message.payload, originalLength: message.truncatedLength)
            if isSame {
                let state = try transaction.absorb(into: row, at: now)
                arrival.link.absorbs(row)
                return .redelivered(row, isFinal: true, isInHand: state == .inHand)
            }
        }
        var row = StoredMessage(
            installation: arrival.link.installation, topic: message.topic, payload: message.payload,
            originalLength: message.truncatedLength, qos: message.qos.rawValue, duplicate: message.duplicate,
            retain: message.retain, packetID: message.packetID.flatMap { arrival.link.isLatest(arrival) ? $0 : nil },
            connection: arrival.connection, receivedAt: arrival.receivedAt,
            state: arrival.isInHand ? .inHand : .waiting, source: arrival.source?.number)
        var acknowledgedAt: Timestamp?
        if case .refused(let reason) = arrival.content {
            row.state = .dead
            row.reason = reason.description
            // No later commit writes this row, so the time of its acknowledgement goes into this commit.
            if message.ticket != nil, arrival.link.isCurrent(arrival) { acknowledgedAt = now }
        }
        let sequence = try transaction.insert(row, storedAt: now, acknowledgedAt: acknowledgedAt)
        if message.qos == .exactlyOnce { arrival.link.inserted(sequence, arrival) }
        return .new(sequence)
    }

    // MARK: - Calls outside a turn

    private func answer<Answer>(_ body: (Inbox) throws(InboxError) -> Answer) -> Result<Answer, InboxError> {
        Result { () throws(InboxError) in try self.use(body) }
    }

    package func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64 {
        try self.use { inbox throws(InboxError) in try inbox.pendingBytes(besides: installations) }
    }

    package func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) {
        completion(
            self.answer { inbox throws(InboxError) in
                let key = try Self.key(id, of: owner, in: inbox)
                self.installations[key] = id
                return key
            })
    }

    private static func key(_ id: String, of owner: InboxOwner?, in inbox: Inbox) throws(InboxError) -> Int64 {
        if let key = try inbox.installation(id: id) {
            guard let owner, try !inbox.isOwn(key, owner) else { return key }
        }
        return try inbox.transaction { transaction throws(InboxError) in
            let key = try transaction.installation(id: id)
            if let owner { try transaction.set(owner, of: key) }
            return key
        }
    }

    package func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>) {
        completion(
            self.answer { inbox throws(InboxError) in
                // A call of `proven` or `doubt` counts before it is written. No message arrives before the first call
                // of this function, so all rows are from earlier processes.
                let noted = self.provenThrough[installation]
                guard self.hasAsked.insert(installation).inserted, noted == nil else {
                    return try inbox.unproven(installation: installation, after: noted)
                }
                if self.earlierUnproven?.replacements != self.replacements {
                    self.earlierUnproven = (try inbox.unproven(), self.replacements)
                }
                return self.earlierUnproven?.rows.removeValue(forKey: installation) ?? []
            })
    }

    package func proven(installation: Int64, through sequence: Int64) { self.provenThrough[installation] = sequence }
    package func doubt(installation: Int64, through sequence: Int64) { self.provenThrough[installation] = sequence }
    package func acknowledged(_ sequence: Int64, at now: Timestamp) { self.acknowledgements.note(sequence, at: now) }
    package func calendarMoved(by shift: Duration) { self.calendarShift += shift }

    package func deadLetters(
        after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>
    ) {
        completion(
            self.answer { inbox throws(InboxError) in try inbox.deadLetterRecords(after: sequence, limit: limit) })
    }

    package func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>
    ) {
        completion(
            self.answer { inbox throws(InboxError) in
                try inbox.rows(.presented, installation: installation, after: sequence, limit: limit)
            })
    }

    package func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>) {
        completion(self.answer { inbox throws(InboxError) in try inbox.row(sequence) })
    }

    package func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>) {
        completion(
            self.answer { inbox throws(InboxError) in
                guard let row = try inbox.row(sequence) else { return nil }
                let source = DecodedContent(row).source
                try inbox.transaction { transaction throws(InboxError) in
                    _ = try transaction.requeue(sequence, source: source, at: now)
                }
                self.retries += 1
                return source
            })
    }

    package func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) {
        completion(
            self.answer { inbox throws(InboxError) in
                _ = try inbox.transaction { transaction throws(InboxError) in try transaction.drop(sequence) }
            })
    }

    package func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>
    ) {
        completion(
            self.answer { inbox throws(InboxError) in
                var counts: [Int64: Int] = [:]
                for former in try inbox.sameOwner(as: installation) where !isRunning(former) {
                    counts[former] = try inbox.openCount(of: former)
                }
                if !counts.isEmpty {
                    try inbox.transaction { transaction throws(InboxError) in
                        for former in counts.keys { try transaction.adopt(former, by: installation) }
                    }
                }
                return try inbox.adopted(by: installation).map {
                    Adoption(key: $0.key, id: $0.id, messages: counts[$0.key] ?? 0)
                }
            })
    }

    package func adopt(
        _ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>
    ) {
        completion(
            self.answer { inbox throws(InboxError) in
                guard let former = try inbox.installation(id: formerID),
                    let installation = try inbox.installation(id: installationID)
                else { return nil }
                let count = try inbox.openCount(of: former)
                try inbox.transaction { transaction throws(InboxError) in
                    try transaction.adopt(former, by: installation)
                }
                self.retries += 1
                return Adoption(key: former, id: formerID, messages: count)
            })
    }
}

package struct ClaimRoom {
    private let scale: DeliveryScale
    private var weight: Int
    private var isEmpty = true
    package private(set) var isFull = false

    package init(_ claim: StoreClaim) { (self.scale, self.weight) = (claim.scale, claim.limit) }

    package mutating func takes(_ message: StoredMessage) -> Bool {
        let weight = self.scale.weight(of: message.bytes)
        guard !self.isFull, self.isEmpty || weight <= self.weight else {
            self.isFull = true
            return false
        }
        self.isEmpty = false
        self.weight -= weight
        self.isFull = self.weight <= 0
        return true
    }
}
