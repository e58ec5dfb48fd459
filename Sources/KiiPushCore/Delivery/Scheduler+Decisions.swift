extension Scheduler {
    package mutating func reacted(_ reaction: Reaction, to sequence: Int64, installation: Int64) {
        let isCalled = self.isCalled(sequence)
        self.reactions[sequence] = reaction
        switch reaction {
        case .opened(let message, let action):
            self.note(.opened(action), sequence, installation)
            // The store records the user's choice at once, so that a crash does not lose it.
            self.change(sequence, installation, .opened(message, by: action))
            guard !isCalled else { return }
            guard let queued = self.takeOut(sequence, at: self.places(of: installation)) else {
                self.reactions[sequence] = nil
                return
            }
            // An opening does not change the state `inHand`, so the row first becomes `waiting`.
            self.change(queued, .waiting(source: queued.source.number))
        case .dismissed: self.note(.dismissed, sequence, installation)
        case .withdrawn: break
        }
        if !isCalled { self.react(to: sequence, installation) }
    }

    package func isOpened(_ sequence: Int64) -> Bool {
        if case .opened = self.reactions[sequence] { true } else { false }
    }

    mutating func react(to sequence: Int64, _ installation: Int64) {
        switch self.reactions.removeValue(forKey: sequence) {
        case .opened(let message, let action):
            self.change(sequence, installation, .opened(message, by: action, isRecorded: true))
        case .dismissed: self.change(sequence, installation, .unopened)
        case .withdrawn: self.change(sequence, installation, .unpresented)
        case nil: return
        }
    }

    /// The call that contains the message; `nil` if the scheduler knows that the call has begun the message.
    package func callHolding(_ sequence: Int64) -> CallID? {
        self.call(with: sequence).flatMap { $0.current?.sequence == sequence ? nil : $0.id }
    }

    package func runningSince(_ sequence: Int64) -> MonotonicInstant? { self.call(with: sequence)?.startedAt }

    /// Forgets a message that a person has retried or dropped. The caller has checked that no handler has it.
    package mutating func release(_ sequence: Int64, installation: Int64) {
        self.reactions[sequence] = nil
        let places = self.places(of: installation)
        for place in places { self.unblock(sequence, at: place) }
        _ = self.takeOut(sequence, at: places)
        self.output.changes.removeAll { $0.sequence == sequence }
        if let answer = self.uncommitted.removeValue(forKey: sequence) { self.forget(answer.message) }
        self.finished.remove(sequence)
    }

    private func places(of installation: Int64) -> [Int] {
        self.knownPlaces.filter { self.sources[$0].id.installation == installation }
    }

    mutating func takeOut(_ sequence: Int64, at places: [Int]) -> QueuedMessage? {
        var found: QueuedMessage?
        if case .committing(let message) = self.alone, message.sequence == sequence {
            self.alone = .none
            self.forget(message)
            found = message
        }
        for message in self.suspects.removeAll(where: { $0.sequence == sequence }) {
            self.forget(message)
            found = message
        }
        for place in places where self.sources[place].queue.contains(where: { $0.sequence == sequence }) {
            for message in self.sources[place].queue.removeAll(where: { $0.sequence == sequence }) {
                self.unweigh(message.bytes, at: place)
                self.heldSuspects.remove(sequence)
                found = message
            }
            self.tidy(place)
        }
        return found
    }
}
