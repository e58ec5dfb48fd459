/// The store without a file. A message is acknowledged only when its outcome is final, so the broker is what keeps it.
///
/// The smaller promise: what the handler gave up on, and messages that end the process, are not kept.
final class MemoryMessageStore: MessageStore {
    // A class: looking up a message then costs no copy of it.
    private final class Entry {
        var message: StoredMessage
        let packetID: UInt16?
        let bytes: Int64
        /// `nil` while a handler, or delivery's memory, has it.
        var standing: Standing?
        /// Of a message that was final before its alert was opened, and is known by this ever since.
        let fingerprint: FinalMessages.Fingerprint?

        init(
            message: StoredMessage, packetID: UInt16?, standing: Standing?,
            fingerprint: FinalMessages.Fingerprint? = nil
        ) {
            self.message = message
            self.packetID = packetID
            self.bytes = ReceivePipeline.memory(of: message.bytes)
            self.standing = standing
            self.fingerprint = fingerprint
        }
    }

    private enum Standing {
        case waiting
        case retry(at: MonotonicInstant)
        /// Shown to the user, who has not reacted.
        case presented
    }

    /// Whether a message that stands there waits for a handler, or has one.
    private static func isPending(_ standing: Standing?) -> Bool {
        switch standing {
        case nil, .waiting, .retry: true
        case .presented: false
        }
    }

    /// The messages whose outcome is not final.
    private var entries = SequenceMap<Entry>()
    /// What waits, by installation.
    private var backlogs: [Int64: MemoryBacklog] = [:]
    private var installations: [String: Int64] = [:]
    private var lastSequence: Int64 = 0
    /// What is counted for good; where messages stand is counted when somebody asks.
    private var counted = MessageLedger()
    private var finals = FinalMessages()
    private let clocks: Clocks

    init(clocks: Clocks = .machine) { self.clocks = clocks }

    var isDurable: Bool { false }
    var hasMoreToWrite: Bool { false }
    var backlogRevision: Int { 0 }
    private(set) var pendingBytes: Int64 = 0
    var pendingShare: Int64 { .max }
    var commitBytes: Int64? { nil }
    var deadLetterStock: DeadLetterStock? { nil }

    func close() {}

    var notices: [PushEvent] { [] }

    func removeNotices() {}

    var ledger: MessageLedger {
        var ledger = self.counted
        self.entries.forEach { _, entry in
            switch entry.standing {
            case nil: ledger.running += 1
            case .waiting, .retry: ledger.waiting += 1
            case .presented: ledger.presented += 1
            }
        }
        return ledger
    }

    func installation(id: String, of owner: InboxOwner?) -> Int64 {
        if let key = self.installations[id] { return key }
        let key = Int64(self.installations.count + 1)
        self.installations[id] = key
        return key
    }

    func pendingBytes(besides installations: Set<Int64>) -> Int64 {
        var sum: Int64 = 0
        self.entries.forEach { _, entry in
            guard MemoryMessageStore.isPending(entry.standing) else { return }
            guard !installations.contains(entry.message.installation) else { return }
            sum += entry.bytes
        }
        return sum
    }

    func unproven(installation: Int64) -> [UnprovenRow] {
        var rows = self.finals.unproven(installation: installation)
        self.entries.forEach { sequence, entry in
            guard entry.message.installation == installation, let packetID = entry.packetID else { return }
            rows.append(UnprovenRow(sequence: sequence, packetID: packetID))
        }
        return rows.sorted { $0.sequence < $1.sequence }
    }

    // Delays count on the monotonic clock here.
    func calendarMoved(by shift: Duration) {}

    func proven(installation: Int64, through sequence: Int64) {
        self.finals.proven(installation: installation, through: sequence)
    }

    // What is given up on is acknowledged and gone.
    func deadLetters(after sequence: Int64, limit: Int) -> [DeadLetter] { [] }
    func standing(of sequence: Int64) -> MessageStanding? { nil }
    func requeue(_ sequence: Int64, at now: Timestamp) {}
    func drop(_ sequence: Int64) {}
    // What an installation left is the broker's still, or gone.
    func takeOver(_ installation: Int64, besides running: Set<Int64>) -> [Adoption] { [] }
    func adopt(_ formerID: String, by installationID: String) -> Adoption? { nil }

    func presented(installation: Int64, after sequence: Int64, limit: Int) -> [StoredMessage] {
        var presented: [StoredMessage] = []
        self.entries.forEach { _, entry in
            guard case .presented = entry.standing, entry.message.installation == installation,
                entry.message.sequence > sequence
            else { return }
            presented.append(entry.message)
        }
        return Array(presented.sorted { $0.sequence < $1.sequence }.prefix(limit))
    }

    // There is no record of what is in memory.
    func acknowledged(_ sequence: Int64, at now: Timestamp) {}

    func makeRoom() -> Int? { nil }

    func commit(_ work: TurnWork) -> TurnOutcome {
        var outcome = TurnOutcome()
        let now = self.clocks.monotonic()
        for order in work.orders {
            switch order {
            case .record(let changes, let committed):
                let changes = changes.span
                for index in changes.indices { self.apply(changes[index], at: now, into: &outcome) }
                if let committed { outcome.replies.append(committed) }
            case .load(let request, let deliver):
                let page = self.page(request, at: now)
                outcome.replies.append { deliver(page) }
            }
        }
        outcome.arrivals.reserveCapacity(work.arrivals.count)
        outcome.messages.reserveCapacity(work.arrivals.count)
        let arrivals = work.arrivals.span
        for index in arrivals.indices {
            outcome.arrivals.append(self.store(arrivals[index], into: &outcome.messages))
        }
        self.counted.received += Int64(work.arrivals.count)
        return outcome
    }

    private func store(_ arrival: Arrival, into messages: inout [StoredMessage]) -> StoredArrival {
        if let row = arrival.link.redeliveryCandidate(of: arrival),
            let isFinal = self.isFinal(row, repeatedBy: arrival.message)
        {
            arrival.link.absorbs(row)
            self.counted.duplicates += 1
            return .redelivered(row, isFinal: isFinal)
        }
        self.lastSequence += 1
        let message = StoredMessage(arrival, sequence: self.lastSequence)
        let entry = Entry(
            message: message, packetID: arrival.message.packetID, standing: arrival.isInHand ? nil : .waiting)
        self.entries[self.lastSequence] = entry
        if arrival.message.qos == .exactlyOnce { arrival.link.inserted(self.lastSequence, arrival) }
        self.pendingBytes += entry.bytes
        if arrival.isInHand {
            messages.append(message)
        } else {
            self.backlogs[message.installation, default: .init()].append(waiting: message.sequence)
        }
        return .new(message.sequence)
    }

    /// Whether nothing waits for the outcome of this row; `nil` if it is not `message`.
    private func isFinal(_ row: Int64, repeatedBy message: MQTTSession.InboundMessage) -> Bool? {
        if let final = self.finals[row] { return final.fingerprint == self.fingerprint(of: message) ? true : nil }
        guard let entry = self.entries[row] else { return nil }
        let isSame =
            entry.fingerprint.map { $0 == self.fingerprint(of: message) }
            ?? (entry.message.topic.hasBytes(of: message.topic) && entry.message.payload == message.payload
                && entry.message.originalLength == message.truncatedLength)
        return isSame ? !MemoryMessageStore.isPending(entry.standing) : nil
    }

    private func fingerprint(of message: MQTTSession.InboundMessage) -> FinalMessages.Fingerprint {
        self.finals.fingerprint(
            topic: message.topic, payload: message.payload, originalLength: message.truncatedLength)
    }

    private func apply(_ change: DeliveryChange, at now: MonotonicInstant, into outcome: inout TurnOutcome) {
        if case .opened(let opening) = change.verdict { return self.open(opening) }
        guard let entry = self.entries[change.sequence] else { return }
        let installation = entry.message.installation
        switch change.verdict {
        case .inHand:
            self.move(entry, to: nil)
            self.backlogs[installation]?.remove(waiting: change.sequence)
        case .presented:
            self.move(entry, to: .presented)
            // Acknowledgements leave in order, and the user may take hours.
            outcome.finished.append(change.sequence)
        case .unopened, .unpresented:
            guard case .presented = entry.standing else { return }
            let isOver = change.verdict == .unopened
            let verdict: DeliveryChange.Verdict = isOver ? .done(.noData) : .waiting
            var change = change
            change.verdict = verdict
            return self.apply(change, at: now, into: &outcome)
        case .waiting:
            self.move(entry, to: .waiting)
            self.backlogs[installation, default: .init()].append(waiting: change.sequence)
        case .retry(let delay, _):
            self.move(entry, to: .retry(at: now + delay))
            self.backlogs[installation, default: .init()].retries.insert(change.sequence)
        case .opened, .done, .dead:
            if case .dead = change.verdict { self.counted.dead += 1 } else { self.counted.done += 1 }
            outcome.finished.append(change.sequence)
            self.finish(change.sequence, entry)
            return
        }
        entry.message.attempts = change.attempts
        entry.message.crashes = change.crashes
    }

    /// Makes a message wait for delivery that the user opened; one that was handled may be forgotten by now.
    private func open(_ opening: DeliveryOpening) {
        let sequence = opening.message.sequence
        guard let entry = self.entries[sequence] else {
            self.uncount()
            let final = self.finals.remove(sequence)
            let entry = Entry(
                message: opening.message, packetID: final?.packetID, standing: .waiting,
                fingerprint: final?.fingerprint)
            self.entries[sequence] = entry
            self.pendingBytes += entry.bytes
            return self.backlogs[opening.message.installation, default: .init()].append(waiting: sequence)
        }
        // As it was received: what came by way of the user has no topic.
        entry.message.openedBy = opening.action
        // In hand.
        guard entry.standing != nil else { return }
        entry.message.attempts = 0
        entry.message.crashes = 0
        self.move(entry, to: .waiting)
        self.backlogs[entry.message.installation, default: .init()].append(waiting: sequence)
    }

    /// Takes back that a message is over. Which kind of end it had is forgotten with it; nearly all are done.
    private func uncount() {
        if self.counted.done > 0 { self.counted.done -= 1 } else { self.counted.dead -= 1 }
    }

    private func move(_ entry: Entry, to standing: Standing?) {
        let isPending = MemoryMessageStore.isPending(standing)
        if isPending != MemoryMessageStore.isPending(entry.standing) {
            self.pendingBytes += isPending ? entry.bytes : -entry.bytes
        }
        entry.standing = standing
    }

    /// Lets go of a message; what is kept is by what a redelivery is recognised.
    private func finish(_ sequence: Int64, _ entry: Entry) {
        self.entries[sequence] = nil
        if MemoryMessageStore.isPending(entry.standing) { self.pendingBytes -= entry.bytes }
        guard let packetID = entry.packetID else { return }
        let message = entry.message
        let fingerprint =
            entry.fingerprint
            ?? self.finals.fingerprint(
                topic: message.topic, payload: message.payload, originalLength: message.originalLength)
        self.finals.add(
            sequence, .init(installation: message.installation, packetID: packetID, fingerprint: fingerprint))
    }

    private func page(_ request: DeliveryLoad, at now: MonotonicInstant) -> DeliveryPage {
        var backlog = self.backlogs.removeValue(forKey: request.installation) ?? MemoryBacklog()
        defer { self.backlogs[request.installation] = backlog }
        switch request.kind {
        case .paused(let sequence): return self.paused(backlog, after: sequence, limit: request.limit, at: now)
        case .suspects:
            // Nothing outlives the process here.
            return DeliveryPage(messages: [], isComplete: true, nextRetry: nil)
        case .waiting:
            var messages: [StoredMessage] = []
            while let sequence = backlog.nextWaiting(where: self.isWaiting) {
                guard messages.count < request.limit else {
                    return DeliveryPage(messages: messages, isComplete: false, nextRetry: nil)
                }
                backlog.dropFirstWaiting()
                if let message = self.take(sequence) { messages.append(message) }
            }
            return DeliveryPage(messages: messages, isComplete: true, nextRetry: nil)
        case .scan(let after):
            let waiting = backlog.waiting(after: after, limit: request.limit, where: self.isWaiting)
            let messages = waiting.compactMap { self.entries[$0]?.message }
            return DeliveryPage(messages: messages, isComplete: messages.count < request.limit)
        case .retries:
            var due: [Int64] = []
            var next: MonotonicInstant?
            for sequence in backlog.retries {
                guard case .retry(let at) = self.entries[sequence]?.standing else {
                    backlog.retries.remove(sequence)
                    continue
                }
                if at <= now { due.append(sequence) } else { next = min(next ?? at, at) }
            }
            let taken = due.sorted().prefix(request.limit)
            backlog.retries.subtract(taken)
            return DeliveryPage(
                messages: taken.compactMap { self.take($0) },
                isComplete: taken.count == due.count,
                nextRetry: next.map { $0 - now }
            )
        }
    }

    private func paused(
        _ backlog: MemoryBacklog, after sequence: Int64, limit: Int, at now: MonotonicInstant
    ) -> DeliveryPage {
        let messages = backlog.retries.filter { $0 > sequence }.sorted().compactMap { sequence -> StoredMessage? in
            guard let entry = self.entries[sequence], case .retry(let due) = entry.standing else { return nil }
            var message = entry.message
            message.pause = due - now
            return message
        }
        return DeliveryPage(messages: Array(messages.prefix(limit)), isComplete: messages.count <= limit)
    }

    private func isWaiting(_ sequence: Int64) -> Bool {
        if case .waiting = self.entries[sequence]?.standing { true } else { false }
    }

    private func take(_ sequence: Int64) -> StoredMessage? {
        guard let entry = self.entries[sequence] else { return nil }
        entry.standing = nil
        return entry.message
    }
}
