extension Scheduler {
    /// The store records the user's choice at once, so that a crash does not lose it.
    package mutating func opened(_ opening: DeliveryOpening) {
        let (sequence, installation) = (opening.message.sequence, opening.message.installation)
        self.note(.opened(opening.action), sequence, installation)
        self.change(opening)
        guard self.isCalled(sequence) else {
            self.reactions[sequence] = nil
            // An opening does not change the state `inHand`, so the row first becomes `waiting`.
            if let message = self.takeOut(sequence, at: self.places(of: installation)) {
                self.change(message, .waiting(source: message.source.number))
                self.change(opening, isRecorded: true)
            }
            return
        }
        self.reactions[sequence] = .opened(opening)
    }

    package func isOpened(_ sequence: Int64) -> Bool {
        if case .opened = self.reactions[sequence] { true } else { false }
    }

    package mutating func dismissed(_ sequence: Int64, installation: Int64) {
        self.note(.dismissed, sequence, installation)
        self.reactions[sequence] = .dismissed
        if !self.isCalled(sequence) { self.react(to: sequence, installation) }
    }

    package mutating func withdrawn(_ sequence: Int64, installation: Int64) {
        self.reactions[sequence] = .withdrawn
        if !self.isCalled(sequence) { self.react(to: sequence, installation) }
    }

    mutating func react(to sequence: Int64, _ installation: Int64) {
        switch self.reactions.removeValue(forKey: sequence) {
        case .opened(let opening): self.change(opening, isRecorded: true)
        case .dismissed: self.change(sequence, installation, .unopened)
        case .withdrawn: self.change(sequence, installation, .unpresented)
        case nil: return
        }
    }

    private mutating func change(_ opening: DeliveryOpening, isRecorded: Bool = false) {
        var opening = opening
        opening.isRecorded = isRecorded
        self.change(opening.message.sequence, opening.message.installation, .opened(opening))
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
