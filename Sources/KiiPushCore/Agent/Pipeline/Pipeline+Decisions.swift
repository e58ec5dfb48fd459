/// A person's decisions about a message. Delivery goes on while the store works on a decision.
extension Pipeline {
    func decide(
        _ decision: PushRuntime.Decision, _ messageID: Int64, onlyDead: Bool = false,
        completion: @escaping StoreCompletion<MessageDecision>
    ) {
        self.store.message(messageID) { answer in
            switch answer {
            case .failure(let error): completion(.failure(error))
            // Without a known installation, no agent can get the message.
            case .success(let message?)
            where (!onlyDead || message.state == .dead)
                && (decision == .drop || message.installation != InboxSchema.unknownInstallation):
                self.decide(decision, message, completion)
            case .success: completion(.success(.notFound))
            }
        }
    }

    private func decide(
        _ decision: PushRuntime.Decision, _ message: StoredMessage,
        _ completion: @escaping StoreCompletion<MessageDecision>
    ) {
        let messageID = message.sequence
        if let time = self.runningTime(of: messageID) { return completion(.success(.running(for: time))) }
        self.withheld[messageID, default: []] += []
        let end = { (answer: Result<Int64?, InboxError>) in
            completion(self.ended(decision, messageID, message.installation, answer))
        }
        // The store changes first: if it fails, nothing in memory has changed.
        switch decision {
        case .drop: self.store.drop(messageID) { end($0.map { nil }) }
        case .retry where message.state == .waiting: end(.success(nil))
        case .retry: self.store.requeue(messageID, at: self.loop.clocks.calendar, completion: end)
        }
    }

    private func ended(
        _ decision: PushRuntime.Decision, _ messageID: Int64, _ installation: Int64,
        _ answer: Result<Int64?, InboxError>
    ) -> Result<MessageDecision, InboxError> {
        let withheld = self.withheld.removeValue(forKey: messageID) ?? []
        self.takeTurn()
        return answer.map { source in
            if let time = self.runningTime(of: messageID) {
                // A worker has called the handler meanwhile; a second call must not run beside the first.
                self.turn.changes.insert(contentsOf: withheld, at: 0)
                guard decision == .retry else { return .carriedOut }
                self.turn.changes.append(
                    MessageChange(sequence: messageID, installation: installation, verdict: .inHand))
                return .running(for: time)
            }
            self.scheduler.release(messageID, installation: installation)
            self.turn.changes.removeAll { $0.sequence == messageID }
            if decision == .retry {
                self.scheduler.appeared(messageID, source: source, installation: installation, goesFirst: true)
            }
            return .carriedOut
        }.mapError { error in
            self.turn.changes.insert(contentsOf: withheld, at: 0)
            return error
        }
    }

    /// The time since a handler was called with the message. Before returning `nil`, makes sure that no worker can
    /// still call a handler with the message.
    private func runningTime(of messageID: Int64) -> Duration? {
        // Earlier answers may be about this message.
        self.followCommitted()
        self.collectAnswers(closing: messageID)
        if let call = self.scheduler.callHolding(messageID) { self.cut(call) }
        return self.scheduler.runningSince(messageID).map { self.clock() - $0 }
    }

    /// Holds back delivery's changes to messages that a person decides about. The changes are older than the decision,
    /// and must not be written after it.
    func withholdChanges() {
        guard !self.withheld.isEmpty else { return }
        for change in self.turn.changes { self.withheld[change.sequence]?.append(change) }
        self.turn.changes.removeAll { self.withheld[$0.sequence] != nil }
    }
}
