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

        init(message: StoredMessage, packetID: UInt16?, standing: Standing?) {
            self.message = message
            self.packetID = packetID
            self.bytes = Int64(message.payload.count + message.topic.utf8.count)
            self.standing = standing
        }
    }

    private enum Standing {
        case waiting
        case retry(at: MonotonicInstant)
        /// Shown to the user, who has not reacted.
        case presented
        /// Kept until its acknowledgement is known to have arrived.
        case final
    }

    /// Whether a message that stands there waits for a handler, or has one.
    private static func isPending(_ standing: Standing?) -> Bool {
        switch standing {
        case nil, .waiting, .retry: true
        case .presented, .final: false
        }
    }

    private var entries = SequenceMap<Entry>()
    /// What waits, by installation.
    private var backlogs: [Int64: MemoryBacklog] = [:]
    private var installations: [String: Int64] = [:]
    private var lastSequence: Int64 = 0
    /// What is counted for good; where messages stand is counted when somebody asks.
    private var counted = MessageLedger()
    /// The last that came to their end, in the order of it: what is kept of them is bounded.
    private var finalInOrder: [Int64] = []
    /// Of each installation those whose acknowledgement is not known to have arrived, in the same order.
    private var finals: [Int64: [Int64]] = [:]

    // A broker has at most this many packets of one connection in flight (MQTT 3.1.1 section 2.3.1).
    private static let finalKept = 65_535

    var isDurable: Bool { false }
    var hasMoreToWrite: Bool { false }
    var backlogRevision: Int { 0 }
    private(set) var pendingBytes: Int64 = 0

    var ledger: MessageLedger {
        var ledger = self.counted
        self.entries.forEach { _, entry in
            switch entry.standing {
            case nil: ledger.running += 1
            case .waiting, .retry: ledger.waiting += 1
            case .presented: ledger.presented += 1
            case .final: break
            }
        }
        return ledger
    }

    func installation(id: String) -> Int64 {
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
        var rows: [UnprovenRow] = []
        self.entries.forEach { sequence, entry in
            guard entry.message.installation == installation, let packetID = entry.packetID else { return }
            rows.append(UnprovenRow(sequence: sequence, packetID: packetID))
        }
        return rows.sorted { $0.sequence < $1.sequence }
    }

    // Delays count on the monotonic clock here.
    func calendarMoved(by shift: Duration) {}

    func proven(installation: Int64, through sequence: Int64) {
        // Its own alone: every connection of a gateway comes by here once a keep-alive.
        guard let finals = self.finals.removeValue(forKey: installation) else { return }
        let kept = finals.filter { final in
            guard self.isFinal(final) else { return false }
            guard final <= sequence else { return true }
            self.entries[final] = nil
            return false
        }
        if !kept.isEmpty { self.finals[installation] = kept }
    }

    // What is given up on is acknowledged and gone.
    func deadLetters(after sequence: Int64, limit: Int) -> [DeadLetter] { [] }
    func retryDeadLetter(_ sequence: Int64, at now: Timestamp) -> Int64? { nil }
    func dropDeadLetter(_ sequence: Int64) -> Bool { false }

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

    func commit(_ work: TurnWork) -> TurnOutcome {
        var outcome = TurnOutcome()
        let now = MonotonicInstant.now()
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
        if let row = arrival.link.redeliveryCandidate(of: arrival), let entry = self.entries[row],
            entry.message.topic.hasBytes(of: arrival.message.topic),
            entry.message.payload == arrival.message.payload,
            entry.message.originalLength == arrival.message.truncatedLength
        {
            arrival.link.absorbs(row)
            self.counted.duplicates += 1
            switch entry.standing {
            case .final, .presented: return .redelivered(row, isFinal: true)
            case nil, .waiting, .retry: return .redelivered(row, isFinal: false)
            }
        }
        self.lastSequence += 1
        let message = StoredMessage(arrival, sequence: self.lastSequence)
        let entry = Entry(
            message: message, packetID: arrival.message.packetID, standing: arrival.isInHand ? nil : .waiting)
        self.entries[self.lastSequence] = entry
        self.pendingBytes += entry.bytes
        if arrival.isInHand {
            messages.append(message)
        } else {
            self.backlogs[message.installation, default: .init()].append(waiting: message.sequence)
        }
        return .new(message.sequence)
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
            if case .final = entry.standing { return }
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
            let entry = Entry(message: opening.message, packetID: nil, standing: .waiting)
            self.entries[sequence] = entry
            self.pendingBytes += entry.bytes
            return self.backlogs[opening.message.installation, default: .init()].append(waiting: sequence)
        }
        // As it was received: what came by way of the user has no topic.
        entry.message.openedBy = opening.action
        switch entry.standing {
        // In hand.
        case nil: return
        case .final:
            self.uncount()
            self.finalInOrder.removeAll { $0 == sequence }
            self.finals[entry.message.installation]?.removeAll { $0 == sequence }
        case .waiting, .retry, .presented: break
        }
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

    private func finish(_ sequence: Int64, _ entry: Entry) {
        self.move(entry, to: .final)
        guard entry.packetID != nil else {
            self.entries[sequence] = nil
            return
        }
        self.finals[entry.message.installation, default: []].append(sequence)
        self.finalInOrder.append(sequence)
        if self.finalInOrder.count > 2 * MemoryMessageStore.finalKept {
            // What was proven meanwhile is gone.
            for old in self.finalInOrder.prefix(MemoryMessageStore.finalKept) where self.isFinal(old) {
                self.entries[old] = nil
            }
            self.finalInOrder.removeFirst(MemoryMessageStore.finalKept)
            self.finals = self.finals.compactMapValues { finals in
                let kept = finals.filter(self.isFinal)
                return kept.isEmpty ? nil : kept
            }
        }
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

    private func isFinal(_ sequence: Int64) -> Bool {
        if case .final = self.entries[sequence]?.standing { true } else { false }
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
