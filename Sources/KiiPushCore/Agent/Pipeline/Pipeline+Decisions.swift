/// What a person decides about messages. Delivery goes on while the store works on it.
extension Pipeline {
    /// Carries out a decision about a message, now.
    func decide(
        _ decision: PushRuntime.Decision, _ messageID: Int64, onlyDead: Bool = false,
        completion: @escaping StoreCompletion<MessageDecision>
    ) {
        self.store.standing(of: messageID) { answer in
            switch answer {
            case .failure(let error): completion(.failure(error))
            // Of one whose installation is unknown nobody knows who may have it.
            case .success(let standing?)
            where (!onlyDead || standing.state == .dead) && (decision == .drop || standing.hasInstallation):
                self.decide(decision, messageID, standing, completion)
            case .success: completion(.success(.notFound))
            }
        }
    }

    private func decide(
        _ decision: PushRuntime.Decision, _ messageID: Int64, _ standing: MessageStanding,
        _ completion: @escaping StoreCompletion<MessageDecision>
    ) {
        if let time = self.runningTime(of: messageID) { return completion(.success(.running(for: time))) }
        self.withheld[messageID, default: []] += []
        let end = { (answer: Result<Int64?, InboxError>) in
            completion(self.ended(decision, messageID, standing.installation, answer))
        }
        // First: where the store refuses, delivery goes on with what it has.
        switch decision {
        case .drop: self.store.drop(messageID) { end($0.map { nil }) }
        case .retry where standing.state == .waiting: end(.success(nil))
        case .retry: self.store.requeue(messageID, at: self.loop.clocks.calendar, completion: end)
        }
    }

    /// - Parameter answer: what the store said to the decision; with the source of a message that it made wait.
    private func ended(
        _ decision: PushRuntime.Decision, _ messageID: Int64, _ installation: Int64,
        _ answer: Result<Int64?, InboxError>
    ) -> Result<MessageDecision, InboxError> {
        let withheld = self.withheld.removeValue(forKey: messageID) ?? []
        self.takeTurn()
        return answer.map { source in
            if let time = self.runningTime(of: messageID) {
                // It was called meanwhile, and must not be called by the side of that.
                self.turn.changes.insert(contentsOf: withheld, at: 0)
                guard decision == .retry else { return .carriedOut }
                self.turn.changes.append(
                    MessageChange(sequence: messageID, installation: installation, verdict: .inHand))
                return .running(for: time)
            }
            self.scheduler.letGo(messageID, installation: installation)
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

    /// For how long its handler has been running; a call that has not come to it yet loses it.
    private func runningTime(of messageID: Int64) -> Duration? {
        // What the store has answered before is known first: the message may be of it.
        self.followCommitted()
        self.collectAnswers(closing: messageID)
        if let call = self.scheduler.callHolding(messageID) { self.cut(call) }
        return self.scheduler.runningSince(messageID).map { self.clock() - $0 }
    }

    /// Keeps back what delivery says of messages that somebody decides about: the store would write it after the
    /// decision, which it is older than.
    func withholdChanges() {
        guard !self.withheld.isEmpty else { return }
        for change in self.turn.changes { self.withheld[change.sequence]?.append(change) }
        self.turn.changes.removeAll { self.withheld[$0.sequence] != nil }
    }
}
