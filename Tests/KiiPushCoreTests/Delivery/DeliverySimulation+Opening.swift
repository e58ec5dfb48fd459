import KiiPushCore

extension TestMessage {
    var key: DeliveryKey { DeliveryKey(sequence: self.sequence, isUserOpened: self.isUserOpened) }
}

extension DeliverySimulation {
    /// Somebody who looks at what is shown.
    struct User {
        /// Whether anything is shown.
        var isThere = false
        /// What the user has done in this process, and cannot do once more.
        var reacted: Set<Int64> = []
        /// What rests, or did, and what the user opened.
        var shown: Set<Int64> = []
        /// What the user opened, as far as it is written.
        var written: Set<Int64> = []
        /// What the program was told that the user opened.
        var told: Set<Int64> = []

        mutating func restarted() { self.reacted = [] }
    }

    /// The user opens something or takes it away; or a new process finds that it cannot be shown.
    mutating func react() {
        // What is shown: rows that rest, and messages whose handler is, or was, called as well.
        let shown = self.rows.filter { sequence, row in
            row == .presented || (self.user.isThere && sequence % 3 == 0 && row != .waiting)
        }
        let open = shown.keys.filter { !self.user.reacted.contains($0) && !self.user.written.contains($0) }
        guard let sequence = open.sorted().randomElement(using: &self.random) else { return }
        self.user.reacted.insert(sequence)
        let installation = self.messages[sequence]?.installation ?? 0
        if sequence % 3 != 0, Int.random(in: 0..<4, using: &self.random) == 0 {
            return self.machine.dismissed(sequence, installation: installation)
        }
        if self.rows[sequence] == .presented, sequence % 3 != 0, Int.random(in: 0..<4, using: &self.random) == 0 {
            // It may be shown again later.
            self.user.reacted.remove(sequence)
            return Bool.random(using: &self.random)
                ? self.machine.unpresented([sequence], installation: installation)
                : self.machine.withdrawn(sequence, installation: installation)
        }
        let message = StoredMessage.push(sequence).with { $0.installation = installation }
        self.machine.opened(DeliveryOpening(message, action: .open))
    }

    /// What the store does with what the user did.
    ///
    /// - Returns: whether it was that.
    mutating func applyReaction(_ change: DeliveryChange) -> Bool {
        let row = self.rows[change.sequence]
        switch change.verdict {
        case .opened:
            self.user.written.insert(change.sequence)
            guard row != .inHand else { return true }
            self.rows[change.sequence] = .waiting
            self.attempts[change.sequence] = 0
            self.crashes[change.sequence] = 0
            self.unfinished.insert(change.sequence)
            self.triedAgain[change.sequence] = Set(
                self.overtaken.filter { $0.key.sequence == change.sequence }.map(\.call))
            return true
        case .unopened:
            guard row == .presented else { return true }
            self.rows[change.sequence] = .done
            self.unfinished.remove(change.sequence)
            return true
        case .unpresented:
            if row == .presented { self.rows[change.sequence] = .waiting }
            return true
        case .done, .retry, .inHand, .waiting, .presented, .dead: return false
        }
    }
}
