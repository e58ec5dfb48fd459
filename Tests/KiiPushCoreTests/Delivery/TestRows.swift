@testable import KiiPushCore

struct TestRows: Sendable {
    enum Standing: Sendable, Equatable {
        case waiting
        case inHand
        case retry(at: MonotonicInstant)
        case presented
        case done
        case dead
    }

    private struct Row: Sendable {
        var message: StoredMessage
        var standing: Standing
    }

    private var rows: [Int64: Row] = [:]
    /// Waiting rows and rows that waited before.
    private var bySource: [SourceID: [Int64]] = [:]

    subscript(sequence: Int64) -> Standing? { self.rows[sequence]?.standing }

    var lastSequence: Int64 { self.rows.keys.max() ?? 0 }

    var unfinished: [Int64] {
        self.rows.filter { $0.value.standing != .done && $0.value.standing != .dead }.keys.sorted()
    }

    func message(_ sequence: Int64) -> StoredMessage? { self.rows[sequence]?.message }

    mutating func insert(_ message: StoredMessage, _ standing: Standing = .waiting) {
        self.rows[message.sequence] = Row(message: message, standing: standing)
        self.list(message)
    }

    mutating func requeue(_ sequence: Int64) {
        self.rows[sequence]?.standing = .waiting
        self.rows[sequence]?.message.attempts = 0
        self.rows[sequence]?.message.crashes = 0
    }

    /// Brings all retries forward, as after a sleep of the machine.
    mutating func bringForward(by duration: Duration) {
        for (sequence, row) in self.rows {
            guard case .retry(let time) = row.standing else { continue }
            self.rows[sequence]?.standing = .retry(at: time + (.zero - duration))
        }
    }

    private mutating func list(_ message: StoredMessage) {
        guard let source = message.sourceID, self.bySource[source]?.contains(message.sequence) != true else { return }
        self.bySource[source, default: []].append(message.sequence)
    }

    // MARK: - Changes

    /// - Returns: messages that wait now because of a user's reaction.
    mutating func apply(_ changes: [MessageChange], at now: MonotonicInstant) -> [StoredMessage] {
        var appeared: [StoredMessage] = []
        for change in changes {
            if let message = self.apply(change, at: now) { appeared.append(message) }
        }
        return appeared
    }

    private mutating func apply(_ change: MessageChange, at now: MonotonicInstant) -> StoredMessage? {
        guard var row = self.rows[change.sequence] else { return nil }
        defer { self.rows[change.sequence] = row }
        switch change.verdict {
        case .opened(_, let action, _):
            row.message.openedBy = action
            guard row.standing != .inHand else { return nil }
            row.standing = .waiting
            row.message.attempts = 0
            row.message.crashes = 0
            row.message.firstStart = nil
            return row.message
        case .unopened:
            if row.standing == .presented { row.standing = .done }
            return nil
        case .unpresented:
            guard row.standing == .presented else { return nil }
            row.standing = .waiting
            return row.message
        case .done, .committing: row.standing = .done
        case .dead: row.standing = .dead
        case .presented: row.standing = .presented
        case .inHand: row.standing = .inHand
        case .retry(let pause, _, let firstStart):
            row.standing = .retry(at: now + pause)
            row.message.firstStart = firstStart
        case .waiting(let source):
            row.standing = .waiting
            row.message.source = source
            self.list(row.message)
        case .setAside:
            row.standing = .waiting
            row.message.source = nil
        }
        row.message.attempts = change.attempts
        row.message.crashes = change.crashes
        return nil
    }

    // MARK: - Claims

    mutating func answer(_ claim: StoreClaim, at now: MonotonicInstant) -> StoreAnswer {
        var answer = StoreAnswer()
        if case .sources(let after) = claim.kind {
            let waiting = self.messages(of: claim.installation) { $0.standing == .waiting }
            let numbers = Set(waiting.compactMap(\.source)).filter { $0 > after ?? .min }.sorted()
            answer.sources = Array(numbers.prefix(claim.limit))
            answer.isComplete = numbers.count <= claim.limit
            return answer
        }
        let found = self.messages(for: claim, at: now)
        var left = claim.limit
        for message in found {
            let weight = claim.scale.weight(of: message.bytes)
            guard answer.messages.isEmpty || weight <= left else { break }
            left -= weight
            answer.messages.append(message)
            if claim.takesInHand { self.rows[message.sequence]?.standing = .inHand }
        }
        answer.isComplete = answer.messages.count == found.count
        guard case .retries = claim.kind else { return answer }
        answer.nextRetry = self.retries(of: claim.installation).first.map { max(.zero, $0.at - now) }
        return answer
    }

    private func messages(for claim: StoreClaim, at now: MonotonicInstant) -> [StoredMessage] {
        let installation = claim.installation
        switch claim.kind {
        case .unsettled(let after):
            return self.messages(of: installation) {
                $0.standing == .waiting && $0.message.source == nil && $0.message.sequence > after
            }
        case .paused(let after):
            return self.retries(of: installation).map(\.message).filter { $0.sequence > after }
                .sorted { $0.sequence < $1.sequence }
        case .suspects(let after):
            return self.messages(of: installation) { $0.standing == .inHand && $0.message.sequence > after }
        case .source(let number, let before):
            let listed = self.bySource[SourceID(installation: installation, number: number)] ?? []
            return listed.sorted().compactMap { self.rows[$0] }.filter {
                $0.standing == .waiting && $0.message.source == number && $0.message.sequence < before ?? .max
            }.map(\.message)
        case .row(let sequence):
            return self.messages(of: installation) { $0.standing == .waiting && $0.message.sequence == sequence }
        case .retries: return self.retries(of: installation).filter { $0.at <= now }.map(\.message)
        case .sources: return []
        }
    }

    private func messages(of installation: Int64, where isMatch: (Row) -> Bool) -> [StoredMessage] {
        self.rows.values.filter { $0.message.installation == installation && isMatch($0) }.map(\.message)
            .sorted { $0.sequence < $1.sequence }
    }

    private func retries(of installation: Int64) -> [(at: MonotonicInstant, message: StoredMessage)] {
        var retries: [(at: MonotonicInstant, message: StoredMessage)] = []
        for row in self.rows.values where row.message.installation == installation {
            if case .retry(let time) = row.standing { retries.append((time, row.message)) }
        }
        return retries.sorted { ($0.at, $0.message.sequence) < ($1.at, $1.message.sequence) }
    }
}

extension StoredMessage {
    static func push(_ sequence: Int64, source: String = "a", installation: Int64 = 1) -> StoredMessage {
        let text = #"{"topic":"\#(source)","objectScopeType":"APP","objectScopeAppID":"x","n":"\#(sequence)"}"#
        return .of(text, sequence, installation: installation)
    }

    static func command(_ sequence: Int64, id: String = "c") -> StoredMessage {
        .of(#"{"commandID":"\#(id)","actions":[{"a":{}}]}"#, sequence)
    }

    static func of(_ text: String, _ sequence: Int64, installation: Int64 = 1) -> StoredMessage {
        var message = StoredMessage(
            sequence: sequence, installation: installation, topic: "t", payload: [UInt8](text.utf8), receivedAt: .at(5))
        message.source = DecodedContent(message).source
        return message
    }

    func with(_ change: (inout StoredMessage) -> Void) -> StoredMessage {
        var message = self
        change(&message)
        return message
    }

    var sourceID: SourceID? {
        self.source.map { SourceID(installation: self.installation, number: $0) }
    }
}

extension MessageChange {
    var untimed: MessageChange {
        var change = self
        change.attempt = nil
        change.bytes = nil
        return change
    }

    static func change(
        _ sequence: Int64, _ verdict: Verdict, attempts: Int = 0, crashes: Int = 0
    ) -> MessageChange {
        MessageChange(sequence: sequence, installation: 1, verdict: verdict, attempts: attempts, crashes: crashes)
    }
}

extension MessageChange.Verdict {
    static func back(to source: String = "a") -> MessageChange.Verdict {
        .waiting(source: StoredMessage.push(0, source: source).source ?? 0)
    }

    static func again(after pause: Int, _ failure: DeliveryFailure) -> MessageChange.Verdict {
        .retry(after: .seconds(pause), failure: failure, firstStart: nil)
    }
}

extension MonotonicInstant {
    static func seconds(_ seconds: Double) -> MonotonicInstant {
        .init(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
    }
}
