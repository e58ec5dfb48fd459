/// Memory is full and more is to be read: sources with long backlogs keep to a share of it, and leave the rest of theirs
/// in the store, so that they delay no other.
extension SourceQueues {
    /// Takes out what sources hold beyond their share, or at all while they are held back: all of it is to wait in the
    /// store. What has to stay in memory stays.
    mutating func trim() -> [Entry] {
        var trimmed: [Entry] = []
        for number in self.queues.indices {
            // An order that is being kept is not broken: what runs alone cannot wait, nor what is on its way.
            guard self.queues[number].expected == 0, !self.queues[number].entries.contains(where: \.isSuspect)
            else { continue }
            var room = self.queues[number].heldBack > 0 ? 0 : self.share
            guard self.queues[number].weight > room else { continue }
            let removed = self.queues[number].entries.removeAll { [scale] entry in
                // The one that uses up the share is kept, however much it weighs.
                defer { room -= scale.weight(of: entry.message.bytes) }
                return room <= 0 && entry.mayWaitInStore
            }
            guard let first = removed.map(\.message.sequence).min() else { continue }
            self.forget(removed, of: number)
            self.leave(first, inStoreFor: number)
            trimmed += removed
        }
        return trimmed
    }

    /// Whether a message that comes is the next of its source. Otherwise those before it wait in the store, or are on
    /// their way from it, and it has to wait there too.
    mutating func isNext(_ message: Message) -> Bool {
        guard !self.leftCounts.isEmpty || self.expectedCount > 0, let number = self.known(message) else { return true }
        return self.queues[number].expected == 0 && message.sequence < self.queues[number].firstInStore ?? .max
    }

    /// Leaves a message in the store: those of its source that come after it wait there, too.
    mutating func leave(_ message: Message) {
        self.leave(message.sequence, inStoreFor: self.number(of: message))
    }

    /// Decides about a message that was found in the store: whether its source has room for it and none before it was
    /// left there. One that is admitted comes with ``arrive(_:)``.
    mutating func admit(_ message: Message) -> Bool {
        let number = self.number(of: message)
        guard self.queues[number].firstInStore == nil, self.hasRoom(number) else {
            self.leave(message.sequence, inStoreFor: number)
            return false
        }
        self.expect(message, number)
        return true
    }

    /// Puts an entry back that was held back or admitted, and is in hand now.
    mutating func arrive(_ entry: Entry) {
        self.unbind(entry)
        var entry = entry
        entry.bond = .none
        self.putBack(entry)
    }

    /// An entry that was held back or admitted does not come.
    mutating func unbind(_ entry: Entry) {
        switch entry.bond {
        case .none: return
        case .heldBack: self.letGo(entry.message)
        case .expected:
            let number = self.number(of: entry.message)
            self.queues[number].expected -= 1
            self.queues[number].expectedWeight -= self.weight(of: entry.message)
            self.expectedCount -= 1
            self.noteRoom(number)
            self.forgetIfUnused(number)
        }
    }

    /// The installations of which sources have room again, since the last time.
    mutating func takeInstallationsWithRoom() -> Set<Int64> {
        guard !self.newlyWithRoom.isEmpty else { return [] }
        defer { self.newlyWithRoom = [] }
        return self.newlyWithRoom
    }

    /// Whether a source of the installation has room for what was left in the store.
    func hasRoomForLeft(_ installation: Int64) -> Bool { self.withRoom[installation]?.isEmpty == false }

    /// The source of this installation that has had room for the longest, and the first of its messages in the store,
    /// unless that is after `last`.
    mutating func takeWithRoom(_ installation: Int64, through last: Int64) -> (source: Int, first: Int64)? {
        while let number = self.withRoom[installation]?.first {
            let first = self.isHalfEmpty(number) ? self.queues[number].firstInStore : nil
            if let first, first > last { return nil }
            _ = self.withRoom[installation]?.popFirst()
            self.queues[number].isWithRoom = false
            if let first { return (number, first) }
            self.forgetIfUnused(number)
        }
        self.withRoom[installation] = nil
        return nil
    }

    func firstInStore(of number: Int) -> Int64? { self.queues[number].firstInStore }

    /// Rows of a source were read from the first that was left: `messages` are those up to `last`.
    ///
    /// - Returns: the messages that are admitted.
    mutating func refill(_ number: Int, with messages: [Message], through last: Int64, isAll: Bool) -> [Message] {
        let identity = self.queues[number].identity
        var admitted: [Message] = []
        var left: Int64? = isAll ? nil : last + 1
        for message in messages where message.source == identity.source && message.sequence <= last {
            guard self.hasRoom(number) else {
                left = message.sequence
                break
            }
            self.expect(message, number)
            admitted.append(message)
        }
        self.queues[number].firstInStore = left
        if left == nil { self.noteNothingLeft(identity.installation) }
        self.noteRoom(number)
        self.forgetIfUnused(number)
        return admitted
    }

    /// Whether messages of sources of this installation were left in the store.
    func hasLeft(_ installation: Int64) -> Bool { self.leftCounts[installation] != nil }

    /// What of an installation is in the store is read from the start again, or not at all.
    mutating func forgetLeft(_ installation: Int64) {
        guard self.leftCounts.removeValue(forKey: installation) != nil else { return }
        for number in self.queues.indices where self.queues[number].identity.installation == installation {
            self.queues[number].firstInStore = nil
            self.forgetIfUnused(number)
        }
    }

    private mutating func expect(_ message: Message, _ number: Int) {
        self.queues[number].expected += 1
        self.queues[number].expectedWeight += self.weight(of: message)
        self.expectedCount += 1
    }

    private mutating func leave(_ sequence: Int64, inStoreFor number: Int) {
        let before = self.queues[number].firstInStore
        if before == nil { self.leftCounts[self.queues[number].identity.installation, default: 0] += 1 }
        self.queues[number].firstInStore = min(sequence, before ?? sequence)
        self.noteRoom(number)
    }

    private mutating func noteNothingLeft(_ installation: Int64) {
        guard let count = self.leftCounts[installation] else { return }
        self.leftCounts[installation] = count > 1 ? count - 1 : nil
    }

    private func hasRoom(_ number: Int) -> Bool {
        self.queues[number].heldBack == 0
            && self.queues[number].weight + self.queues[number].expectedWeight < self.share
    }

    /// A source is filled up again when it has run half empty.
    mutating func noteRoom(_ number: Int) {
        if let installation = self.lineUp(number) { self.newlyWithRoom.insert(installation) }
    }

    /// Puts a source back that could not be filled up: its turn comes when its installation is read again.
    mutating func lineUpAgain(_ number: Int) { _ = self.lineUp(number) }

    /// - Returns: the installation of a source that was not in the line before, and has room.
    private mutating func lineUp(_ number: Int) -> Int64? {
        guard !self.queues[number].isWithRoom, self.isHalfEmpty(number) else { return nil }
        let installation = self.queues[number].identity.installation
        self.queues[number].isWithRoom = true
        self.withRoom[installation, default: .init()].append(number)
        return installation
    }

    private func isHalfEmpty(_ number: Int) -> Bool {
        guard self.queues[number].firstInStore != nil, self.queues[number].heldBack == 0 else { return false }
        return self.queues[number].weight + self.queues[number].expectedWeight <= self.share / 2
    }
}
