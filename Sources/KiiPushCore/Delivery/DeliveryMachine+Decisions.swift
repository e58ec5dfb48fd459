/// What delivery has of a message that a person decides about.
package enum DeliveryHold: Sendable, Hashable {
    /// Nothing: it stands in the store as it is.
    case nothing
    /// It is in memory, and its handler does not run.
    case inMemory
    /// Its handler has been running since then.
    case running(since: MonotonicInstant)
}

/// What a person decides about a message, which delivery may have in memory.
extension DeliveryMachine {
    /// A message is to be tried again now: a pause before its next attempt is over.
    package mutating func hurry(_ sequence: Int64, now: MonotonicInstant) -> DeliveryHold {
        let hold = self.hold(of: sequence)
        guard hold == .inMemory else { return hold }
        for entry in self.retries.removeAll(where: { $0.message.sequence == sequence }) {
            self.retries.add(entry, due: now)
        }
        self.resumeRetries(now)
        self.settle(at: now)
        return hold
    }

    /// A message is dropped: it leaves memory, unless its handler runs.
    package mutating func drop(_ sequence: Int64, installation: Int64) -> DeliveryHold {
        let hold = self.hold(of: sequence)
        if case .running = hold { return hold }
        for isUserOpened in [false, true] {
            let key = DeliveryKey(sequence: sequence, isUserOpened: isUserOpened)
            self.closeLateAttempts(of: key)
            self.withdraw(key, installation: installation)
        }
        self.reactions[sequence] = nil
        self.settle()
        return hold
    }

    private func hold(of sequence: Int64) -> DeliveryHold {
        for call in self.calls.values {
            guard let index = call.entries.lastIndex(where: { $0.message.sequence == sequence }),
                index > call.position || (index == call.position && !call.isOver)
            else { continue }
            return .running(since: call.startedAt)
        }
        return self.isPresent(sequence) ? .inMemory : .nothing
    }
}
