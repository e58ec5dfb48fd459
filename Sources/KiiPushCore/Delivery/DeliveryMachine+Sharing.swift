/// Sharing memory among sources, when one with a long backlog would fill it and hold up the others.
///
/// While memory has been full for ``sharesAfter`` and there is more to read, whatever a source has beyond its share goes
/// back to the store. From then on the installation's backlog is scanned: rows stay as they are, and only those are taken
/// into memory whose source has room and none left behind; a source that has run half empty is filled up from where it
/// was left. When none is left behind any more, everything is as before.
extension DeliveryMachine {
    /// How long memory may be full, with more to be read, before sources keep to a share of it.
    static var sharesAfter: Duration { .milliseconds(100) }

    /// When sources are to keep to their share, as it is now.
    var sharingDue: MonotonicInstant? { self.crowdedSince.map { $0 + Self.sharesAfter } }

    /// Gives back what sources hold beyond their share.
    mutating func shareMemory(_ now: MonotonicInstant) {
        guard let due = self.sharingDue, due <= now else { return }
        self.crowdedSince = now
        // A message on its way stands in the store as in hand. Did the process end now, the next one would start it before
        // those of its source that wait.
        guard !self.configuration.isStrictlyOrdered || self.reserved == 0 else { return }
        var installations: Set<Int64> = []
        // The last ones first, as at giveBack(_:).
        for entry in self.queues.trim().reversed() {
            self.present.remove(entry.message.key)
            self.output.changes.append(self.change(entry, .waiting))
            installations.insert(entry.message.installation)
        }
        for installation in installations {
            if self.intakes[installation]?.scan == nil { self.intakes[installation]?.scan = BacklogScan() }
            self.withhold(installation)
        }
    }

    /// Has sources filled up that have room again.
    mutating func noteRefills() {
        for installation in self.queues.takeInstallationsWithRoom() { self.wantPage(installation) }
    }

    /// Whether a page is worth asking for.
    func hasMoreToRead(_ installation: Int64) -> Bool {
        guard let intake = self.intakes[installation], let kind = intake.wanted else { return false }
        guard case .scan = kind else { return true }
        return intake.hasBacklog || self.queues.hasRoomForLeft(installation)
    }

    /// What is to be read next of an installation: while its backlog is scanned, a source's refill and the scan in turn.
    mutating func wanted(_ installation: Int64) -> DeliveryLoad.Kind? {
        if let intake = self.intakes[installation], intake.wanted == .waiting, !intake.setAside.sequences.isEmpty {
            // Messages that were set aside wait too, and must not be marked as in hand: rows are looked at first.
            self.intakes[installation]?.scan = BacklogScan(position: intake.setAside.through)
        }
        guard let intake = self.intakes[installation], let kind = intake.wanted else { return nil }
        guard case .scan = kind, let scan = intake.scan else { return kind }
        let goesOn = intake.hasBacklog
        // What the scan has not passed it brings itself, in its order.
        if !goesOn || scan.refilled == nil,
            let (source, first) = self.queues.takeWithRoom(installation, through: goesOn ? scan.position : .max)
        {
            self.intakes[installation]?.scan?.refilled = source
            return .scan(after: first - 1)
        }
        guard goesOn else { return nil }
        self.intakes[installation]?.scan = BacklogScan(position: scan.restarts ? 0 : scan.position)
        return .scan(after: scan.restarts ? 0 : scan.position)
    }

    /// A part of the backlog was read.
    mutating func scanned(_ installation: Int64, after: Int64, _ page: DeliveryPage, _ messages: [Message]) {
        guard let scan = self.intakes[installation]?.scan else { return }
        let last = page.messages.last?.sequence ?? after
        if let source = scan.refilled {
            if page.isFailure {
                // What is read again a second after a failure brings it.
                self.queues.lineUpAgain(source)
            } else if self.queues.firstInStore(of: source) == after + 1 {
                let isAll = page.isComplete || last >= scan.position
                self.admit(
                    self.queues.refill(source, with: messages, through: min(last, scan.position), isAll: isAll))
            }
        } else if !page.isFailure {
            self.intakes[installation]?.scan?.position = last
            self.admit(messages.filter { self.queues.admit($0) })
        }
        guard let intake = self.intakes[installation], !intake.hasBacklog, !self.queues.hasLeft(installation) else {
            return
        }
        self.intakes[installation]?.setAside.through = intake.scan?.position ?? 0
        self.intakes[installation]?.scan = nil
    }

    /// Takes rows into memory that wait in the store: once they are durably in hand they join their sources.
    private mutating func admit(_ messages: [Message]) {
        guard !messages.isEmpty else { return }
        var commitment = DeliveryOutput.Commitment(changes: [], keys: [])
        for message in messages {
            if !self.reactions.isEmpty { self.reactionArrived(message) }
            self.counters.received += 1
            self.note(.received, message)
            var entry = Entry(message)
            entry.bond = .expected
            self.present.insert(message.key, weight: self.scale.weight(of: message.bytes))
            self.committing[message.key] = entry
            commitment.changes.append(self.change(entry, .inHand))
            commitment.keys.append(message.key)
        }
        self.output.commitments.append(commitment)
    }
}
