import KiiPushCore

/// The inbox of a process that an ``Activator`` started. The activator keeps the messages and gets the verdicts.
final class LaunchStore: Store {
    private let tell: @Sendable (ActivationAnswer) -> Void
    private var entries: [Int64: StoredMessage] = [:]
    private var installations: [String: Int64] = [:]

    init(tell: @escaping @Sendable (ActivationAnswer) -> Void) { self.tell = tell }

    var isDurable: Bool { true }
    /// The activator's agent keeps the dead letters, and the activator accepts a late success.
    var keepsDeadLetters: Bool { true }
    var pendingBytes: Int64 { 0 }

    func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) { completion(.success(self.key(of: id))) }

    func key(of installationID: String) -> Int64 {
        let key = self.installations[installationID] ?? Int64(self.installations.count + 1)
        self.installations[installationID] = key
        return key
    }

    func add(_ message: StoredMessage) { self.entries[message.sequence] = message }

    var openMessages: [Int64] { self.entries.keys.sorted() }

    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>) {
        // `turn.arrivals` is empty: only a connection to a broker adds arrivals, and this process has none.
        for change in turn.changes { self.apply(change) }
        var outcome = TurnOutcome()
        outcome.answers = turn.claims.map(self.answer)
        completion(.success(outcome))
    }

    private func apply(_ change: MessageChange) {
        switch change.verdict {
        case .done(let result), .committing(let result, _):
            self.entries[change.sequence] = nil
            // Sent for a late success too: the activator decides whether the success still counts.
            self.tell(.verdict(id: change.sequence, .result(result)))
        case .dead(.attemptsFailed(.timedOut)):
            if self.entries.removeValue(forKey: change.sequence) != nil { self.tell(.late(id: change.sequence)) }
        case .dead(.rejected(let reason)): self.finish(change.sequence, .rejected(reason))
        case .dead(.undecodable(let reason)): self.finish(change.sequence, .rejected("undecodable: \(reason)"))
        case .dead(.command): self.finish(change.sequence, .rejected("the program takes no thing-if commands"))
        case .dead, .retry: self.finish(change.sequence, .result(.failed))
        case .waiting, .setAside, .unpresented: self.entries[change.sequence]?.state = .waiting
        case .inHand: self.entries[change.sequence]?.state = .inHand
        // The activator's agent presents alerts, not this process.
        case .presented, .opened, .unopened: break
        }
    }

    private func answer(_ claim: StoreClaim) -> StoreAnswer {
        var answer = StoreAnswer()
        let waiting = self.entries.values.filter { $0.state == .waiting && $0.installation == claim.installation }
            .sorted { $0.sequence < $1.sequence }
        switch claim.kind {
        // These claims ask for retries, or for rows from before the process started. This store has neither.
        case .unsettled, .paused, .suspects, .retries: break
        case .sources(let after):
            let numbers = Set(waiting.compactMap(\.source)).filter { $0 > after ?? .min }.sorted()
            answer.sources = Array(numbers.prefix(claim.limit))
            answer.isComplete = numbers.count <= claim.limit
        case .source(let number, let before):
            let rows = waiting.filter { $0.source == number && $0.sequence < before ?? .max }
            answer.messages = Array(rows.prefix(claim.limit))
            answer.isComplete = rows.count <= claim.limit
        case .row(let sequence): answer.messages = waiting.filter { $0.sequence == sequence }
        }
        if claim.takesInHand { for message in answer.messages { self.entries[message.sequence]?.state = .inHand } }
        return answer
    }

    private func finish(_ sequence: Int64, _ verdict: ActivationVerdict) {
        if self.entries.removeValue(forKey: sequence) != nil { self.tell(.verdict(id: sequence, verdict)) }
    }
}
