/// A store without a file. The agent acknowledges a message when it is done, dead or shown in a notification, so the
/// broker keeps the message until then. This store keeps no dead letters.
final class MemoryStore: Store {
    private final class Entry {
        var message: StoredMessage
        var retryAt: MonotonicInstant?
        /// Set if the message became final before the user opened its notification: it still identifies redeliveries.
        var digest: SipHash.Digest?

        init(_ message: consuming StoredMessage) { self.message = message }

        var bytes: Int64 { MemoryStore.memory(of: self.message.bytes) }
        var isPending: Bool { self.message.state != .presented }
        var appearance: TurnOutcome.Appearance {
            .init(sequence: self.message.sequence, installation: self.message.installation, source: self.message.source)
        }
    }

    /// Bytes of queues, maps and objects around one message. The smallest messages take half of this while they wait,
    /// and about as much again once they are decoded (measured).
    private static let messageOverhead = 1024

    static func memory(of bytes: Int) -> Int64 { Int64(bytes + Self.messageOverhead) }

    private var entries = SequenceMap<Entry>()
    /// Waiting messages by source, in the order of reception. Readers skip messages that are listed twice or no longer
    /// wait.
    private var backlogs: [SourceID: Fifo<Int64>] = [:]
    private var retries: [Int64: Set<Int64>] = [:]
    private var installations: [String: Int64] = [:]
    private var lastSequence: Int64 = 0
    private var counted = MessageLedger()
    private var finals = FinalMessages()
    private let clocks: Clocks

    init(clocks: Clocks = .machine) { self.clocks = clocks }

    var isDurable: Bool { false }
    private(set) var pendingBytes: Int64 = 0

    var ledger: MessageLedger {
        var ledger = self.counted
        self.entries.forEach { _, entry in
            switch entry.message.state {
            case .inHand: ledger.running += 1
            case .waiting, .retry: ledger.waiting += 1
            case .presented: ledger.presented += 1
            case .done, .dead: break
            }
        }
        return ledger
    }

    func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) {
        let key = self.installations[id] ?? Int64(self.installations.count + 1)
        self.installations[id] = key
        completion(.success(key))
    }

    func pendingBytes(besides installations: Set<Int64>) -> Int64 {
        var sum: Int64 = 0
        self.entries.forEach { _, entry in
            if entry.isPending, !installations.contains(entry.message.installation) { sum += entry.bytes }
        }
        return sum
    }

    func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>) {
        var rows = self.finals.unproven(installation: installation)
        self.entries.forEach { sequence, entry in
            guard entry.message.installation == installation, let packetID = entry.message.packetID else { return }
            rows.append(UnprovenRow(sequence: sequence, packetID: packetID))
        }
        let watermark = self.finals.watermarks[installation] ?? 0
        completion(.success(rows.filter { $0.sequence > watermark }.sorted { $0.sequence < $1.sequence }))
    }

    func doubt(installation: Int64, through sequence: Int64) { self.finals.watermarks[installation] = sequence }

    func proven(installation: Int64, through sequence: Int64) {
        self.finals.proven(installation: installation, through: sequence)
    }

    // Retry times are monotonic, and the monotonic clock stood still during the sleep.
    func machineSlept(_ duration: Duration) {
        for sequence in self.retries.values.joined() {
            guard let entry = self.entries[sequence], let at = entry.retryAt else { continue }
            entry.retryAt = at + (.zero - duration)
        }
    }

    func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>
    ) {
        completion(.success(Array(self.messages(.presented, of: installation, after: sequence).prefix(limit))))
    }

    private func messages(_ state: RowState, of installation: Int64, after sequence: Int64) -> [StoredMessage] {
        var messages: [StoredMessage] = []
        self.entries.forEach { number, entry in
            let message = entry.message
            guard message.state == state, message.installation == installation, number > sequence else { return }
            messages.append(message)
        }
        return messages.sorted { $0.sequence < $1.sequence }
    }

    // MARK: - Turns

    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>) {
        var outcome = TurnOutcome()
        let now = self.clocks.monotonic()
        let changes = turn.changes.span
        for index in changes.indices { self.apply(changes[index], at: now, into: &outcome) }
        outcome.arrivals.reserveCapacity(turn.arrivals.count)
        let arrivals = turn.arrivals.span
        for index in arrivals.indices { outcome.arrivals.append(self.store(arrivals[index])) }
        self.counted.received += Int64(turn.arrivals.count)
        for claim in turn.claims { outcome.answers.append(self.answer(claim, at: now)) }
        completion(.success(outcome))
    }

    private func store(_ arrival: Arrival) -> StoredArrival {
        if let row = arrival.link.redeliveryCandidate(of: arrival),
            let isFinal = self.isFinal(row, repeatedBy: arrival.message)
        {
            arrival.link.absorbs(row)
            self.counted.duplicates += 1
            let isInHand = self.entries[row]?.message.state == .inHand
            return .redelivered(row, isFinal: isFinal, isInHand: isInHand)
        }
        self.lastSequence += 1
        let sequence = self.lastSequence
        let message = arrival.message
        if message.qos == .exactlyOnce { arrival.link.inserted(sequence, arrival) }
        let stored = StoredMessage(
            sequence: sequence, installation: arrival.link.installation, topic: message.topic, payload: message.payload,
            originalLength: message.truncatedLength, packetID: message.packetID, receivedAt: arrival.receivedAt,
            state: arrival.isInHand ? .inHand : .waiting, source: arrival.source?.number)
        let entry = Entry(stored)
        self.add(entry)
        if case .refused = arrival.content {
            self.counted.dead += 1
            self.finish(entry)
        } else if !arrival.isInHand {
            self.wait(entry)
        }
        return .new(sequence)
    }

    /// Whether the row's acknowledgement may leave; `nil` if `message` does not repeat the row.
    private func isFinal(_ row: Int64, repeatedBy message: MQTTSession.InboundMessage) -> Bool? {
        if let final = self.finals[row] { return final.digest == self.digest(of: message) ? true : nil }
        guard let entry = self.entries[row] else { return nil }
        let isSame =
            entry.digest.map { $0 == self.digest(of: message) }
            ?? (entry.message.topic.hasBytes(of: message.topic) && entry.message.payload == message.payload
                && entry.message.originalLength == message.truncatedLength)
        return isSame ? !entry.isPending : nil
    }

    private func digest(of message: MQTTSession.InboundMessage) -> SipHash.Digest {
        self.finals.digest(topic: message.topic, payload: message.payload, message.truncatedLength)
    }

    // MARK: - Changes

    private func apply(_ change: MessageChange, at now: MonotonicInstant, into outcome: inout TurnOutcome) {
        if case .opened(let copy, let action, _) = change.verdict {
            return self.open(copy, by: action, into: &outcome)
        }
        guard let entry = self.entries[change.sequence] else { return }
        switch change.verdict {
        case .inHand: self.move(entry, to: .inHand)
        case .presented:
            self.move(entry, to: .presented)
            // Acknowledgements leave in order. Waiting for the user here would delay later acknowledgements.
            outcome.finished.append(change.sequence)
        case .unopened:
            guard entry.message.state == .presented else { return }
            self.counted.done += 1
            return self.finish(entry, into: &outcome)
        case .unpresented:
            guard entry.message.state == .presented else { return }
            self.wait(entry)
            return outcome.appeared.append(entry.appearance)
        case .waiting(let source):
            entry.message.source = source
            self.wait(entry)
        case .setAside:
            entry.message.source = nil
            self.wait(entry)
        case .retry(let delay, _, let firstStart):
            entry.message.firstStart = firstStart
            self.move(entry, to: .retry, at: now + delay)
            self.retries[entry.message.installation, default: []].insert(change.sequence)
        case .dead:
            self.counted.dead += 1
            return self.finish(entry, into: &outcome)
        case .done, .committing:
            self.counted.done += 1
            return self.finish(entry, into: &outcome)
        case .opened: return
        }
        entry.message.attempts = change.attempts
        entry.message.crashes = change.crashes
    }

    private func finish(_ entry: Entry, into outcome: inout TurnOutcome) {
        outcome.finished.append(entry.message.sequence)
        self.finish(entry)
    }

    /// The store may have dropped the message. `copy` has no topic.
    private func open(_ copy: StoredMessage, by action: UserAction, into outcome: inout TurnOutcome) {
        let sequence = copy.sequence
        guard let entry = self.entries[sequence] else {
            // The message was counted as done or dead; nearly all are done.
            if self.counted.done > 0 { self.counted.done -= 1 } else { self.counted.dead -= 1 }
            let final = self.finals.remove(sequence)
            var message = copy
            message.openedBy = action
            (message.attempts, message.crashes, message.firstStart) = (0, 0, nil)
            message.source = DecodedContent(message).source
            message.packetID = final?.packetID
            message.state = .waiting
            let entry = Entry(message)
            entry.digest = final?.digest
            self.add(entry)
            self.wait(entry)
            return outcome.appeared.append(entry.appearance)
        }
        entry.message.openedBy = action
        guard entry.message.state != .inHand else { return }
        entry.message.attempts = 0
        entry.message.crashes = 0
        entry.message.firstStart = nil
        self.wait(entry)
        outcome.appeared.append(entry.appearance)
    }

    private func add(_ entry: Entry) {
        self.entries[entry.message.sequence] = entry
        self.pendingBytes += entry.bytes
    }

    private func move(_ entry: Entry, to state: RowState, at retryAt: MonotonicInstant? = nil) {
        let wasPending = entry.isPending
        entry.message.state = state
        entry.retryAt = retryAt
        if wasPending != entry.isPending { self.pendingBytes += wasPending ? -entry.bytes : entry.bytes }
    }

    private func wait(_ entry: Entry) {
        self.move(entry, to: .waiting)
        let message = entry.message
        guard let source = message.source else { return }
        let id = SourceID(installation: message.installation, number: source)
        self.backlogs[id, default: .init()].list(message.sequence)
    }

    private func finish(_ entry: Entry) {
        let message = entry.message
        self.entries[message.sequence] = nil
        if entry.isPending { self.pendingBytes -= entry.bytes }
        guard let packetID = message.packetID else { return }
        let digest =
            entry.digest
            ?? self.finals.digest(topic: message.topic, payload: message.payload, message.originalLength)
        self.finals.add(
            message.sequence, .init(installation: message.installation, packetID: packetID, digest: digest))
    }

    // MARK: - Claims

    private func answer(_ claim: StoreClaim, at now: MonotonicInstant) -> StoreAnswer {
        var answer = StoreAnswer()
        let installation = claim.installation
        switch claim.kind {
        case .suspects: break  // Nothing outlives the process here.
        case .unsettled(let after):
            let unsettled = self.messages(.waiting, of: installation, after: after).filter { $0.source == nil }
            answer.messages = Array(unsettled.prefix(claim.limit))
            answer.isComplete = unsettled.count <= claim.limit
        case .paused(let after):
            let paused = self.messages(.retry, of: installation, after: after)
            answer.messages = Array(paused.prefix(claim.limit))
            answer.isComplete = paused.count <= claim.limit
        case .sources(let after):
            let numbers = self.backlogs.keys.filter { $0.installation == installation && $0.number > after ?? .min }
                .map(\.number).sorted()
            answer.sources = Array(numbers.prefix(claim.limit))
            answer.isComplete = numbers.count <= claim.limit
        case .source(let number, let before):
            self.take(SourceID(installation: installation, number: number), before: before, claim.limit, into: &answer)
        case .row(let sequence):
            guard let entry = self.entries[sequence], entry.message.state == .waiting else { break }
            self.take(entry, into: &answer)
        case .retries: self.takeRetries(installation, claim.limit, at: now, into: &answer)
        }
        return answer
    }

    private func take(_ source: SourceID, before: Int64?, _ limit: Int, into answer: inout StoreAnswer) {
        // Taken out of the dictionary, the queue changes in place, without a copy.
        guard var backlog = self.backlogs.removeValue(forKey: source) else { return }
        while let sequence = backlog.first {
            if let entry = self.entries[sequence], entry.message.state == .waiting,
                entry.message.source == source.number
            {
                guard sequence < before ?? .max else { break }
                guard answer.messages.count < limit else {
                    answer.isComplete = false
                    break
                }
                self.take(entry, into: &answer)
            }
            _ = backlog.popFirst()
        }
        if !backlog.isEmpty { self.backlogs[source] = backlog }
    }

    private func takeRetries(
        _ installation: Int64, _ limit: Int, at now: MonotonicInstant, into answer: inout StoreAnswer
    ) {
        var due: [Int64] = []
        var next: MonotonicInstant?
        for sequence in self.retries[installation] ?? [] {
            guard let at = self.entries[sequence]?.retryAt else {
                self.retries[installation]?.remove(sequence)
                continue
            }
            if at <= now { due.append(sequence) } else { next = min(next ?? at, at) }
        }
        for sequence in due.sorted().prefix(limit) {
            self.retries[installation]?.remove(sequence)
            if let entry = self.entries[sequence] { self.take(entry, into: &answer) }
        }
        answer.isComplete = due.count <= limit
        answer.nextRetry = next.map { $0 - now }
        if self.retries[installation]?.isEmpty == true { self.retries[installation] = nil }
    }

    private func take(_ entry: Entry, into answer: inout StoreAnswer) {
        entry.message.state = .inHand
        entry.retryAt = nil
        answer.messages.append(entry.message)
    }
}

extension Fifo<Int64> {
    /// Keeps the order: delivery may return an older message.
    fileprivate mutating func list(_ sequence: Int64) {
        guard let last = self.last, last > sequence else { return self.append(sequence) }
        self.insert(sequence) { $0 >= sequence }
    }
}
