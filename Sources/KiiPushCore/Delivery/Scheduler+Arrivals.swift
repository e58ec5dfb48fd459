extension Scheduler {
    /// Whether a new message goes into memory at once: all sources of its installation are known, its own source has
    /// nothing in the store, and there is room.
    package mutating func admit(_ source: SourceID, bytes: Int) -> Bool {
        guard let intake = self.intakes[source.installation], !self.isDraining else { return false }
        // The scheduler reads the list of sources later, and finds this source then.
        guard intake.knowsSuspects else { return false }
        guard intake.nextPage == nil, let place = self.makePlace(of: source) else {
            self.rowsAppeared(in: source)
            return false
        }
        let weight = self.scale.weight(of: bytes)
        guard !self.sources[place].hasRows, self.sources[place].blockers.isEmpty, weight <= self.room,
            self.sources[place].weight + weight <= max(weight, self.configuration.messagesInMemory / 2)
        else {
            self.rowsAppeared(at: place)
            return false
        }
        self.sources[place].arriving += 1
        self.weigh(bytes, at: place)
        return true
    }

    package mutating func stored(_ message: QueuedMessage) {
        guard let place = self.place(of: message.source) else { return }
        self.sources[place].arriving -= 1
        // After the admission of this message, the scheduler returned earlier ones to the store.
        if self.sources[place].hasUnclaimed {
            self.unclaim([message], at: place)
        } else {
            self.accept(message, at: place)
        }
    }

    /// Called if an admitted message was not stored.
    package mutating func released(_ source: SourceID, bytes: Int) {
        guard let place = self.place(of: source) else { return }
        self.sources[place].arriving -= 1
        self.unweigh(bytes, at: place)
        self.tidy(place)
    }

    package mutating func joined(_ sequence: Int64, installation: Int64) {
        self.note(.duplicate, sequence, installation)
    }

    package mutating func refused(_ sequence: Int64, installation: Int64, _ reason: DeadLetterReason) {
        self.note(.dead(reason, attempt: nil), sequence, installation)
    }

    /// The caller has counted the message's weight.
    mutating func accept(_ message: QueuedMessage, at place: Int) {
        guard let intake = self.intakes[message.installation], !self.isDraining else {
            return self.unclaim([message], at: place)
        }
        // A message with earlier attempts was reported before the first of them.
        if message.attempts == 0 { self.note(.received, message) }
        if message.isCommand, !intake.takesCommands {
            self.unweigh(message.bytes, at: place)
            self.deadLetter(message, .command)
            return self.tidy(place)
        }
        self.enqueue(message, at: place)
        self.unblock(message.sequence, at: place)
    }

    mutating func unblock(_ sequence: Int64, at place: Int) {
        guard let index = self.sources[place].blockers.firstIndex(of: sequence) else { return }
        self.sources[place].blockers.remove(at: index)
        self.makeReady(place)
        self.queueSourceClaim(place)
    }
}
