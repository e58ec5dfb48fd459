/// What the user did with a notification.
///
/// A message that is not in memory is changed in the store, which hands it over again from there. One that is in hand is
/// changed when its present attempt is over; for its next one, it does not wait.
extension DeliveryMachine {
    enum Reaction: Sendable {
        /// `isSent`: the store was told, and has not handed the message over yet.
        case opened(DeliveryOpening, isSent: Bool)
        case dismissed(installation: Int64)
        case withdrawn(installation: Int64)
    }

    /// The user opened what showed a message: it is delivered (again), and told what the user chose.
    package mutating func opened(_ opening: DeliveryOpening) {
        self.counters.opened += 1
        self.noteReaction(.opened(opening.action), opening.message.sequence, opening.message.installation)
        // At once, also of one in hand: then a crash does not lose what the user did.
        var opening = opening
        if self.isPresent(opening.message.sequence) {
            self.change(opening)
            opening.isRecorded = true
        }
        self.reactions[opening.message.sequence] = .opened(opening, isSent: false)
        self.settle()
    }

    /// What showed a message, for whose sake nobody was called, is gone.
    package mutating func dismissed(_ sequence: Int64, installation: Int64) {
        self.counters.dismissed += 1
        self.counters.noData += 1
        self.noteReaction(.dismissed, sequence, installation)
        self.reactions[sequence] = .dismissed(installation: installation)
        self.settle()
    }

    /// What showed a message, for whose sake nobody was called, has ended, and the user has not seen to it.
    package mutating func withdrawn(_ sequence: Int64, installation: Int64) {
        self.reactions[sequence] = .withdrawn(installation: installation)
        self.settle()
    }

    /// Messages that are to be shown to the user, as an earlier run has shown them, cannot be: they are delivered.
    package mutating func unpresented(_ sequences: [Int64], installation: Int64) {
        guard !sequences.isEmpty else { return }
        for sequence in sequences { self.redeliver(unpresented: sequence, installation) }
        self.settle()
    }

    private mutating func redeliver(unpresented sequence: Int64, _ installation: Int64) {
        self.output.changes.append(
            DeliveryChange(
                sequence: sequence, installation: installation, verdict: .unpresented, attempts: 0, crashes: 0))
        self.rowsAppeared(installation)
    }

    /// Does what was put off until messages are out of hand.
    mutating func applyReactions() {
        for (sequence, reaction) in self.reactions {
            switch reaction {
            case .opened(_, isSent: true): continue
            case .opened(let opening, isSent: false): self.endPause(of: opening.message)
            case .dismissed, .withdrawn: break
            }
            guard !self.isPresent(sequence) else { continue }
            switch reaction {
            case .opened(let opening, _):
                let installation = opening.message.installation
                // Whoever receives as it next finds it in the store as it is from now on.
                self.reactions[sequence] = self.intakes[installation] == nil ? nil : .opened(opening, isSent: true)
                // An answer to an attempt before would end it while it runs again.
                for isUserOpened in [false, true] {
                    self.closeLateAttempts(of: DeliveryKey(sequence: sequence, isUserOpened: isUserOpened))
                }
                self.change(opening)
                self.rowsAppeared(installation)
            case .dismissed(let installation):
                self.reactions[sequence] = nil
                self.output.changes.append(
                    DeliveryChange(
                        sequence: sequence, installation: installation, verdict: .unopened, attempts: 0, crashes: 0))
            case .withdrawn(let installation):
                self.reactions[sequence] = nil
                self.redeliver(unpresented: sequence, installation)
            }
        }
    }

    /// The store has handed a message over that the user opened: as that, or as it was before the store was told.
    mutating func reactionArrived(_ message: Message) {
        guard case .opened(var opening, _) = self.reactions[message.sequence] else { return }
        opening.isRecorded = true
        self.reactions[message.sequence] = message.isUserOpened ? nil : .opened(opening, isSent: false)
    }

    /// Everything that waits in the store for an installation was read since the store was last told of what a user did:
    /// what has not come by now has no row any more.
    mutating func forgetSentReactions(of installation: Int64) {
        guard !self.reactions.isEmpty else { return }
        self.reactions = self.reactions.filter { _, reaction in
            guard case .opened(let opening, isSent: true) = reaction else { return true }
            return opening.message.installation != installation
        }
    }

    func isPresent(_ sequence: Int64) -> Bool {
        self.present.contains(DeliveryKey(sequence: sequence))
            || self.present.contains(DeliveryKey(sequence: sequence, isUserOpened: true))
    }

    private mutating func change(_ opening: DeliveryOpening) {
        self.output.changes.append(
            DeliveryChange(
                sequence: opening.message.sequence, installation: opening.message.installation,
                verdict: .opened(opening), attempts: 0, crashes: 0))
    }

    /// Takes a message out of memory that waits for its next attempt: the user does not.
    private mutating func endPause(of message: StoredMessage) {
        for entry in self.retries.removeAll(where: { $0.message.sequence == message.sequence }) {
            self.present.remove(entry.message.key)
            self.queues.unbind(entry)
        }
    }

    private mutating func noteReaction(_ kind: DeliveryEvent.Kind, _ sequence: Int64, _ installation: Int64) {
        guard self.isObserved else { return }
        self.output.events.append(DeliveryEvent(sequence: sequence, installation: installation, kind: kind))
    }
}
