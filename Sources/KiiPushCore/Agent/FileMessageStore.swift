/// The durable store: an ``Inbox`` file. What its commit has returned for survives the process and the power.
final class FileMessageStore: MessageStore {
    private let file: RecoverableInbox
    private var room: InboxRoom
    private let longestDelay: Duration
    private var provenThrough: [Int64: Int64] = [:]
    private var calendarShift = Duration.zero
    private var acknowledgements = AcknowledgementTimes()
    /// The unproven rows of earlier processes that nobody has asked for, by installation, and how often the file had been
    /// replaced when they were read; `nil` until somebody asks.
    private var earlierUnproven: (rows: [Int64: [UnprovenRow]], replacements: Int)?
    /// The installations whose unproven rows were asked for.
    private var hasAsked: Set<Int64> = []
    /// How often messages were made to wait again, or for another installation.
    private var retries = 0

    /// - Parameter longestDelay: no retry is put off for longer.
    init(_ file: RecoverableInbox, in room: InboxRoom, longestDelay: Duration) {
        self.file = file
        self.room = room
        self.longestDelay = longestDelay
    }

    var isDurable: Bool { true }
    var hasMoreToWrite: Bool { !self.provenThrough.isEmpty || self.calendarShift != .zero }
    var pendingBytes: Int64 { self.file.counts.pendingBytes }
    var deadLetterStock: DeadLetterStock? { self.file.deadLetterStock }
    var pendingShare: Int64 { self.room.shares.waitingBytes }
    var commitBytes: Int64? {
        self.room.shares.transactionBytes ?? (self.room.hasReserve ? nil : InboxShares.mostInScarcity)
    }
    var ledger: MessageLedger { self.file.messageLedger }
    var backlogRevision: Int { self.retries + self.file.replacements }
    func close() { self.file.close() }

    var notices: [PushEvent] {
        self.file.notices.map {
            .inboxMovedAside(path: $0.path, reason: $0.reason, takenOver: $0.takenOver, lost: $0.lost)
        }
    }

    func removeNotices() { self.file.removeNotices() }

    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64 {
        try self.file.use { inbox throws(InboxError) in try inbox.pendingBytes(besides: installations) }
    }

    func installation(id: String, of owner: InboxOwner?) throws(InboxError) -> Int64 {
        try self.file.installation(id: id, of: owner)
    }

    func unproven(installation: Int64) throws(InboxError) -> [UnprovenRow] {
        try self.file.use { inbox throws(InboxError) in
            // An installation receives only after this was asked, so at first all its rows are those of earlier processes.
            guard self.hasAsked.insert(installation).inserted else {
                return try inbox.unproven(installation: installation)
            }
            if self.earlierUnproven?.replacements != self.file.replacements {
                self.earlierUnproven = (try inbox.unproven(), self.file.replacements)
            }
            return self.earlierUnproven?.rows.removeValue(forKey: installation) ?? []
        }
    }

    func proven(installation: Int64, through sequence: Int64) {
        self.provenThrough[installation] = max(sequence, self.provenThrough[installation] ?? 0)
    }

    func acknowledged(_ sequence: Int64, at now: Timestamp) { self.acknowledgements.note(sequence, at: now) }

    func calendarMoved(by shift: Duration) { self.calendarShift += shift }

    func deadLetters(after sequence: Int64, limit: Int) throws(InboxError) -> [DeadLetter] {
        try self.file.use { inbox throws(InboxError) in
            try DeadLetter.page(of: inbox, after: sequence, limit: limit)
        }
    }

    func standing(of sequence: Int64) throws(InboxError) -> MessageStanding? {
        try self.file.use { inbox throws(InboxError) in
            guard let row = try inbox.row(sequence) else { return nil }
            let installation = row.message.installation
            return MessageStanding(
                state: row.state, installation: installation,
                hasInstallation: try inbox.installationID(installation) != nil)
        }
    }

    func requeue(_ sequence: Int64, at now: Timestamp) throws(InboxError) {
        try self.file.use { inbox throws(InboxError) in
            try inbox.transaction { transaction throws(InboxError) in
                if try transaction.hurry(sequence, at: now) { return }
                try transaction.requeue(sequence, at: now)
            }
        }
        self.retries += 1
    }

    func takeOver(_ installation: Int64, besides running: Set<Int64>) throws(InboxError) -> [Adoption] {
        try self.file.use { inbox throws(InboxError) -> [Adoption] in
            var counts: [Int64: Int] = [:]
            for former in try inbox.sameOwner(as: installation) where !running.contains(former) {
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
        }
    }

    func adopt(_ formerID: String, by installationID: String) throws(InboxError) -> Adoption? {
        let adoption = try self.file.use { inbox throws(InboxError) -> Adoption? in
            guard let former = try inbox.installation(id: formerID),
                let installation = try inbox.installation(id: installationID)
            else { return nil }
            let count = try inbox.openCount(of: former)
            try inbox.transaction { transaction throws(InboxError) in
                try transaction.adopt(former, by: installation)
            }
            return Adoption(key: former, id: formerID, messages: count)
        }
        self.retries += 1
        return adoption
    }

    func presented(installation: Int64, after sequence: Int64, limit: Int) throws(InboxError) -> [StoredMessage] {
        try self.file.use { inbox throws(InboxError) in
            try inbox.rows(.presented, installation: installation, after: sequence, limit: limit)
                .map { StoredMessage($0, wasInHand: false) }
        }
    }

    func drop(_ sequence: Int64) throws(InboxError) {
        try self.file.use { inbox throws(InboxError) in
            _ = try inbox.transaction { transaction throws(InboxError) in try transaction.drop(sequence) }
        }
    }

    func makeRoom() -> Int? {
        self.room.giveUpReserve()
        // Why there was no room is what the next commit says.
        let removed = try? self.file.use { inbox throws(InboxError) in
            inbox.shares = self.room.shares
            return try inbox.makeRoom()
        }
        self.room.look()
        return removed
    }

    func commit(_ work: TurnWork) throws(InboxError) -> TurnOutcome {
        self.room.lookIfDue()
        guard self.room.hasReserve || work.arrivals.isEmpty else {
            throw InboxError(.full, step: "finding room for messages")
        }
        var isAgain = false
        var outcome = try self.file.use { inbox throws(InboxError) in
            inbox.shares = self.room.shares
            // The log must not get longer than the reserve makes up for.
            if inbox.log.failure != nil { try inbox.writeLog(emptying: true) }
            // What a damaged file was found to hold the new one may not.
            if isAgain { for arrival in work.arrivals { arrival.link.forgetAbsorptions() } }
            isAgain = true
            return try self.write(work, into: inbox)
        }
        self.provenThrough.removeAll(keepingCapacity: true)
        self.calendarShift = .zero
        if let due = self.file.markIsDue { outcome.upkeepDue = min(due, outcome.upkeepDue ?? due) }
        return outcome
    }

    private func write(_ work: TurnWork, into inbox: Inbox) throws(InboxError) -> TurnOutcome {
        let clock = TurnClock(inbox.configuration.clocks)
        let now = clock.now
        return try inbox.transaction { transaction throws(InboxError) in
            // First: what this turn writes goes by the new calendar already.
            if self.calendarShift != .zero { try transaction.moveRetries(by: self.calendarShift) }
            var outcome = TurnOutcome()
            for order in work.orders {
                switch order {
                case .record(let changes, let committed):
                    let changes = changes.span
                    for index in changes.indices { try self.apply(changes[index], in: transaction, clock) }
                    if let committed { outcome.replies.append(committed) }
                case .load(let request, let deliver):
                    let page = try self.page(request, of: inbox, in: transaction, at: now, into: &outcome)
                    outcome.replies.append { deliver(page) }
                }
            }
            let arrivals = work.arrivals.span
            for index in arrivals.indices {
                let stored = try self.store(arrivals[index], in: inbox, transaction, at: now, into: &outcome.messages)
                outcome.arrivals.append(stored)
            }
            for (installation, sequence) in self.provenThrough {
                try transaction.markProven(installation: installation, through: sequence)
            }
            outcome.upkeepDue = try inbox.prune(now: now, in: transaction)
            outcome.removedDeadLetters = inbox.removedDeadLetters
            return outcome
        }
    }

    private func apply(
        _ change: DeliveryChange,
        in transaction: borrowing InboxTransaction,
        _ clock: TurnClock
    ) throws(InboxError) {
        var row = RowChange(change, at: clock)
        row.acknowledgedAt = self.acknowledgements.time(of: change.sequence)
        let endedAt = change.attempt?.endedAt.map(clock.timestamp(of:))
        try transaction.update(row, at: endedAt ?? clock.now)
    }

    private func store(
        _ arrival: Arrival,
        in inbox: Inbox,
        _ transaction: borrowing InboxTransaction,
        at now: Timestamp,
        into messages: inout [StoredMessage]
    ) throws(InboxError) -> StoredArrival {
        let message = arrival.message
        if let row = arrival.link.redeliveryCandidate(of: arrival) {
            let isSame = try inbox.matches(
                row, topic: message.topic, payload: message.payload, originalLength: message.truncatedLength)
            if isSame {
                try transaction.absorb(into: row, at: now)
                arrival.link.absorbs(row)
                return .redelivered(row, isFinal: true)
            }
        }
        var stored = StoredMessage(arrival, sequence: 0)
        let sequence = try transaction.insert(
            NewRow(
                installation: arrival.link.installation,
                topic: message.topic,
                payload: message.payload,
                originalLength: message.truncatedLength,
                qos: message.qos.rawValue,
                duplicate: message.duplicate,
                retain: message.retain,
                packetID: message.packetID,
                connection: arrival.connection,
                receivedAt: arrival.receivedAt,
                storedAt: now,
                state: arrival.isInHand ? .inHand : .waiting,
                // Kept with the row: by the time it is read back, the installation may have another topic.
                reason: stored.isUnexpectedTopic ? DeadLetterReason.unexpectedTopic.description : nil
            ))
        stored.sequence = sequence
        if message.qos == .exactlyOnce { arrival.link.inserted(sequence, arrival) }
        if arrival.isInHand { messages.append(stored) }
        return .new(sequence)
    }

    /// Reads rows back, and marks them as in hand where that is asked for.
    ///
    /// Rows that cannot be read are no reason to give up the rest of the turn, as long as the transaction stands.
    private func page(
        _ request: DeliveryLoad,
        of inbox: Inbox,
        in transaction: borrowing InboxTransaction,
        at now: Timestamp,
        into outcome: inout TurnOutcome
    ) throws(InboxError) -> DeliveryPage {
        let rows: [StoredRow]
        var room = PageRoom(request)
        do throws(InboxError) {
            rows = try self.rows(request, of: inbox, at: now) { room.takes($0) }
        } catch {
            guard error.kind != .corrupt, inbox.isInTransaction else { throw error }
            outcome.loads.append(.failure(error))
            return DeliveryPage(messages: [], isComplete: false, isFailure: true)
        }
        outcome.loads.append(.success(()))
        let isAll = !room.isFull && rows.count < self.limit(of: request)
        var page = DeliveryPage(messages: [], isComplete: isAll)
        for row in rows {
            var message = StoredMessage(row, wasInHand: row.state == .inHand)
            if case .paused = request.kind {
                message.pause = self.pause(until: row.nextAttempt, from: now)
            } else if request.kind.isMarking {
                let acknowledgedAt = self.acknowledgements.time(of: row.sequence)
                try transaction.take(row, acknowledgedAt: acknowledgedAt, at: now)
            }
            page.messages.append(message)
        }
        if case .retries = request.kind, let next = try inbox.nextRetry(installation: request.installation) {
            page.nextRetry = .milliseconds(max(0, next.millisecondsSinceEpoch - now.millisecondsSinceEpoch))
        }
        return page
    }

    private func rows(
        _ request: DeliveryLoad, of inbox: Inbox, at now: Timestamp, while hasRoom: (StoredRow) -> Bool
    ) throws(InboxError) -> [StoredRow] {
        let (installation, limit) = (request.installation, self.limit(of: request))
        return switch request.kind {
        case .paused(let sequence):
            try inbox.rows(.retry, installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .suspects(let sequence):
            try inbox.rows(.inHand, installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .waiting: try inbox.rows(.waiting, installation: installation, limit: limit, while: hasRoom)
        case .scan(let sequence):
            try inbox.rows(.waiting, installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .retries:
            try inbox.dueRetries(
                installation: installation, now: now, longestDelay: self.longestDelay, limit: limit, while: hasRoom)
        }
    }

    /// Each row that is marked changes a page.
    private func limit(of request: DeliveryLoad) -> Int {
        guard request.kind.isMarking, let bytes = self.commitBytes else { return request.limit }
        return min(request.limit, Int(max(bytes / 4096, 1)))
    }

    /// One that is longer than any was is that of a clock that was set back, and over.
    private func pause(until due: Timestamp?, from now: Timestamp) -> Duration {
        guard let due else { return .zero }
        let pause = Duration.milliseconds(due.millisecondsSinceEpoch - now.millisecondsSinceEpoch)
        return pause > self.longestDelay ? .zero : pause
    }
}

/// What is left of the weight that a page may have.
private struct PageRoom {
    private let scale: DeliveryScale
    private var weight: Int
    private var isEmpty = true
    /// Whether there may be rows that the page has no room for.
    private(set) var isFull = false

    init(_ request: DeliveryLoad) {
        self.scale = request.scale
        self.weight = request.limit
    }

    /// Takes a row if there is room for it.
    mutating func takes(_ row: StoredRow) -> Bool {
        let weight = self.scale.weight(of: row.message.payload.count + row.message.topic.utf8.count)
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

extension StoredMessage {
    init(_ row: StoredRow, wasInHand: Bool) {
        self.init(
            sequence: row.sequence,
            installation: row.message.installation,
            topic: row.message.topic,
            payload: row.message.payload,
            originalLength: row.message.originalLength,
            receivedAt: row.message.receivedAt,
            attempts: row.attempts,
            crashes: row.crashes,
            wasInHand: wasInHand,
            openedBy: row.openedBy.map(UserAction.init(stored:)),
            isUnexpectedTopic: row.message.reason == DeadLetterReason.unexpectedTopic.description
        )
    }
}
