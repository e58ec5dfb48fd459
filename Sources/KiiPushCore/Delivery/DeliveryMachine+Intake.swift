extension DeliveryMachine {
    /// The most that is read at once, by weight.
    private var pageLimit: Int { max(1, self.configuration.messagesInMemory / 2) }

    private var enoughRoom: Int { max(1, self.configuration.messagesInMemory / 4) }

    private var room: Int { self.configuration.messagesInMemory - self.memoryWeight }

    // MARK: - Installations

    /// Starts to deliver what the store holds for an installation, beginning with what was in hand.
    package mutating func attached(_ installation: Int64) {
        guard self.intakes[installation] == nil else { return }
        self.lastAttachment += 1
        self.intakes[installation] = DeliveryIntake(
            attachment: self.lastAttachment, isStrictlyOrdered: self.configuration.isStrictlyOrdered)
        self.wantPage(installation)
        self.settle()
    }

    /// Stops delivering for an installation. Its running calls go on; what is queued waits in the store.
    package mutating func detached(_ installation: Int64) {
        if let intake = self.intakes.removeValue(forKey: installation), intake.isLoading {
            self.departed[intake.attachment] = (installation, intake.outdatedWhileLoading)
        }
        self.giveBack { $0.message.installation == installation }
        self.queues.forgetLeft(installation)
        self.forgetSentReactions(of: installation)
        self.settle()
    }

    /// Rows of the installation were made to wait in the store from outside.
    package mutating func backlogAppeared(_ installation: Int64) {
        self.rowsAppeared(installation)
        self.settle()
    }

    /// Rows wait in the store that did not when what reads it passed.
    mutating func rowsAppeared(_ installation: Int64) {
        guard self.intakes[installation] != nil else { return }
        self.intakes[installation]?.scan?.restarts = true
        self.intakes[installation]?.setAside.through = 0
        self.withhold(installation)
    }

    /// A message of the installation was made to wait in the store, to be tried again.
    ///
    /// Answers to the attempts that it had do not count any more: one that did would end it while it runs again.
    package mutating func requeued(_ sequence: Int64, installation: Int64) {
        for isUserOpened in [false, true] {
            self.closeLateAttempts(of: DeliveryKey(sequence: sequence, isUserOpened: isUserOpened))
        }
        self.intakes[installation]?.setAside.sequences.remove(sequence)
        self.backlogAppeared(installation)
    }

    // MARK: - Messages

    /// Asks for room for messages that were just received.
    ///
    /// - Parameters:
    ///   - count: how many they are.
    ///   - installation: whose.
    ///   - now: the time.
    ///   - bytes: how many bytes the one at an index has.
    /// - Returns: how many of them, from the first, are to be stored as in hand and then delivered; the others are to
    ///   be stored as waiting, and are read back when there is room. So no message overtakes another.
    package mutating func reserve(
        _ count: Int, installation: Int64, now: MonotonicInstant, bytes: (Int) -> Int = { _ in 0 }
    ) -> Int {
        guard let intake = self.intakes[installation], !self.isDraining else { return 0 }
        var granted = 0
        if intake.isStraight {
            var room = self.room
            while granted < count {
                let weight = self.scale.weight(of: bytes(granted))
                guard weight <= room else { break }
                room -= weight
                self.reserved += weight
                granted += 1
            }
        }
        guard granted < count else { return granted }
        self.withhold(installation)
        self.latest = max(self.latest, now)
        self.noteCrowding()
        return granted
    }

    /// What was withheld is stored, and is read when there is room.
    package mutating func withheldIsStored() { self.settle() }

    /// Has the store's rows that wait read before anything that is received.
    mutating func withhold(_ installation: Int64) {
        self.intakes[installation]?.hasBacklog = true
        self.intakes[installation]?.hasWithheldSince = true
        self.wantPage(installation)
    }

    /// Takes messages into memory; of the room that was reserved, `released` by weight is not needed any more.
    package mutating func received(_ messages: [Message], releasing released: Int, now: MonotonicInstant) {
        self.reserved -= released
        self.output.expect(events: self.isObserved ? messages.count : 0)
        for message in messages { self.accept(message, loadedAt: nil) }
        self.settle(at: now)
    }

    /// Messages came again: those that are in hand are joined, and nothing is started for any of them.
    package mutating func repeated(
        _ messages: [(sequence: Int64, installation: Int64)], releasing released: Int
    ) {
        self.reserved -= released
        for (sequence, installation) in messages where self.present.contains(DeliveryKey(sequence: sequence)) {
            self.counters.joined += 1
            guard self.isObserved else { continue }
            self.output.events.append(
                DeliveryEvent(sequence: sequence, installation: installation, kind: .joined))
        }
        self.settle()
    }

    /// Gives up on a message that no handler is to see.
    package mutating func refused(_ message: StoredMessage, _ reason: DeadLetterReason) {
        self.counters.received += 1
        self.counters.dead += 1
        self.output.changes.append(
            DeliveryChange(
                sequence: message.sequence,
                installation: message.installation,
                verdict: .dead(reason),
                attempts: message.attempts,
                crashes: message.crashes
            ))
        guard self.isObserved else { return }
        self.output.events.append(
            DeliveryEvent(sequence: message.sequence, installation: message.installation, kind: .dead(reason)))
    }

    /// The store has read a page: `messages` are those of its rows that are worth a handler.
    package mutating func loaded(
        _ request: DeliveryLoad, _ page: DeliveryPage, messages: [Message], now: MonotonicInstant
    ) {
        self.reserved -= request.limit
        self.loadsInFlight -= 1
        guard let intake = self.intakes[request.installation], intake.attachment == request.attachment else {
            // The installation was detached meanwhile: whoever receives as it now reads the rows in their order.
            let outdated = self.outdated(request)
            self.departed[request.attachment] = nil
            if case .scan = request.kind { return self.settle(at: now) }
            for message in messages.reversed()
            where !self.isOutdated(
                message.sequence, isUserOpened: message.isUserOpened, in: outdated, by: request)
            {
                self.decline(message)
            }
            return self.settle(at: now)
        }
        self.intakes[request.installation]?.loaded(request.kind, page)
        if page.isFailure {
            self.lookLater(request.installation, at: now + .seconds(1))
        } else if let next = page.nextRetry {
            self.lookLater(request.installation, at: now + max(next, .milliseconds(10)))
        }
        let current = messages.filter { message in
            guard !intake.setAside.sequences.contains(message.sequence) else {
                if request.kind.isMarking { self.output.changes.append(self.change(Entry(message), .waiting)) }
                return false
            }
            if let attempts = intake.failedWhileLoading[message.sequence], message.attempts < attempts { return false }
            return !self.isOutdated(
                message.sequence, isUserOpened: message.isUserOpened, in: intake.outdatedWhileLoading, by: request)
        }
        if case .scan(let after) = request.kind {
            if !self.isDraining {
                let absent = current.filter { !self.present.contains($0.key) }
                self.scanned(request.installation, after: after, page, absent)
            }
        } else {
            for message in current { self.accept(message, loadedAt: now) }
        }
        if self.intakes[request.installation]?.hasBacklog == false {
            self.forgetSentReactions(of: request.installation)
        }
        if !page.isFailure, self.hasMoreToRead(request.installation) { self.wantPage(request.installation) }
        self.settle(at: now)
    }

    private mutating func accept(_ message: Message, loadedAt now: MonotonicInstant?) {
        guard !self.isDraining, let intake = self.intakes[message.installation], intake.isOpen || now != nil else {
            // What was received before a new attachment waits behind what the store has held for longer.
            return self.decline(message)
        }
        // A retry holds nobody back, and is not held back.
        guard message.attempts > 0 || message.wasInHand || message.isUserOpened || self.queues.isNext(message) else {
            self.decline(message)
            // Later messages of its source may have room already. They must not overtake it.
            self.queues.leave(message)
            if let intake = self.intakes[message.installation], intake.scan == nil {
                self.intakes[message.installation]?.scan = BacklogScan(position: intake.setAside.through)
            }
            // What reads the backlog may be past it, or about to end.
            return self.withhold(message.installation)
        }
        let weight = self.scale.weight(of: message.bytes)
        guard self.present.insert(message.key, weight: weight) else {
            // A page may hold what is in memory already; only what the network brings again is a redelivery.
            guard now == nil else { return }
            self.counters.joined += 1
            self.note(.joined, message)
            return
        }
        if !self.reactions.isEmpty { self.reactionArrived(message) }
        self.counters.received += 1
        self.note(.received, message)
        var entry = Entry(message)
        if let pause = message.pause, let now {
            self.queues.holdBack(message)
            entry.bond = .heldBack
            return self.wait(entry, until: now + max(pause, .zero))
        }
        guard message.wasInHand else {
            // The user waits: it goes before what came after it.
            return message.isUserOpened ? self.queues.putBack(entry) : self.queues.append(entry)
        }
        let limit = self.configuration.maximumCrashes ?? self.configuration.maximumAttempts
        if entry.crashes >= limit || entry.attempts >= self.configuration.maximumAttempts {
            self.bury(entry, .crashed)
        } else {
            entry.isSuspect = true
            self.suspect(entry)
        }
    }

    /// Has a message run alone, unless strict order has it wait for one before it: then it keeps its place in its source.
    mutating func suspect(_ entry: Entry) {
        if self.configuration.isStrictlyOrdered, self.queues.holdsBack(entry) {
            self.queues.putBack(entry)
        } else {
            self.suspects.append(entry)
        }
    }

    /// Leaves a message to the next process: suspects stay in hand, the others wait.
    private mutating func decline(_ message: Message) {
        guard !message.wasInHand, message.pause == nil, !self.present.contains(message.key) else { return }
        self.output.changes.append(self.change(Entry(message), .waiting))
        if let through = self.intakes[message.installation]?.setAside.through, through >= message.sequence {
            self.intakes[message.installation]?.setAside.through = message.sequence - 1
        }
        // What reads rows in hand may be under way, and bring it as one of them.
        guard let intake = self.intakes[message.installation], !intake.isOpen, intake.isLoading else { return }
        self.intakes[message.installation]?.outdatedWhileLoading.insert(message.sequence)
    }

    // MARK: - Pages

    /// Asks the store for rows while there is room for a page worth asking for, one installation after the other.
    mutating func askForPages() {
        while !self.isDraining, self.room >= self.enoughRoom, let installation = self.toLoad.popFirst() {
            self.intakes[installation]?.isQueued = false
            guard let kind = self.wanted(installation) else { continue }
            let limit = min(self.room, self.pageLimit)
            self.intakes[installation]?.isLoading = true
            self.intakes[installation]?.hasWithheldSince = false
            self.intakes[installation]?.hasDueRetriesSince = false
            self.reserved += limit
            self.loadsInFlight += 1
            self.output.loads.append(
                DeliveryLoad(
                    installation: installation, kind: kind, limit: limit, scale: self.scale,
                    attachment: self.intakes[installation]?.attachment ?? 0))
        }
        self.noteCrowding()
    }

    private mutating func noteCrowding() {
        let isCrowded = !self.isDraining && self.room < self.enoughRoom && !self.toLoad.isEmpty
        self.crowdedSince = isCrowded ? self.crowdedSince ?? self.latest : nil
    }

    mutating func wantPage(_ installation: Int64) {
        guard let intake = self.intakes[installation], !intake.isQueued else { return }
        self.intakes[installation]?.isQueued = true
        self.toLoad.append(installation)
    }

    /// Plans a look into the store, unless an earlier one is planned: each look says when the next one is due.
    mutating func lookLater(_ installation: Int64, at due: MonotonicInstant) {
        guard let intake = self.intakes[installation], intake.nextLook.map({ due < $0 }) ?? true else { return }
        self.intakes[installation]?.nextLook = due
        self.toLoadLater.add(installation, due: due)
    }

    /// Looks for due retries in the store, and repeats loads that failed.
    mutating func loadWhatIsDue(_ now: MonotonicInstant) {
        // With strict order every retry is in memory.
        let mayBeDue = !self.configuration.isStrictlyOrdered
        while let installation = self.toLoadLater.popDue(now) {
            guard let next = self.intakes[installation]?.nextLook, next <= now else { continue }
            self.intakes[installation]?.nextLook = nil
            self.intakes[installation]?.hasDueRetries = mayBeDue
            self.intakes[installation]?.hasDueRetriesSince = true
            self.wantPage(installation)
        }
    }

    // MARK: - Stopping

    /// Starts nothing any more and gives back what has not started. Running calls go on.
    package mutating func drain() {
        guard !self.isDraining else { return }
        self.isDraining = true
        self.giveBack { _ in true }
    }

    /// Leaves messages that were not even decoded, of a page or from the network, to the next process.
    package mutating func declined(_ messages: [StoredMessage], of load: DeliveryLoad? = nil) {
        // Rows that were only looked at wait already.
        if case .scan = load?.kind { return }
        // The last ones first, as at giveBack(_:).
        for message in messages.reversed() where !message.wasInHand && message.pause == nil {
            let key = DeliveryKey(sequence: message.sequence, isUserOpened: message.isUserOpened)
            guard !self.present.contains(key) else { continue }
            let isOutdated = load.map { load in
                self.isOutdated(
                    message.sequence, isUserOpened: message.isUserOpened, in: self.outdated(load), by: load)
            }
            guard isOutdated != true else { continue }
            self.output.changes.append(
                DeliveryChange(
                    sequence: message.sequence,
                    installation: message.installation,
                    verdict: .waiting,
                    attempts: message.attempts,
                    crashes: message.crashes
                ))
        }
    }

    /// What has changed since a load was asked for, which may bring it as it was before.
    private func outdated(_ load: DeliveryLoad) -> Set<Int64> {
        if let intake = self.intakes[load.installation], intake.attachment == load.attachment {
            return intake.outdatedWhileLoading
        }
        return self.departed[load.attachment]?.outdated ?? []
    }

    /// Whether a load brings a message as it was before it came to its end, or was given back.
    ///
    /// One that the user has opened by then may have been asked for before that and read after it: marked as in hand, it
    /// is nobody else's.
    private func isOutdated(
        _ sequence: Int64, isUserOpened: Bool, in outdated: Set<Int64>, by load: DeliveryLoad
    ) -> Bool {
        guard outdated.contains(sequence) else { return false }
        guard load.kind.isMarking, isUserOpened, case .opened(_, isSent: true) = self.reactions[sequence] else {
            return true
        }
        return false
    }

    private mutating func giveBack(_ isMatch: (Entry) -> Bool) {
        let queued = self.queues.removeAll(where: isMatch)
        let committing = self.committing.values.filter(isMatch)
        for entry in committing { self.committing[entry.message.key] = nil }
        self.withdrawCommitments(of: Set(committing.map(\.message.key)))
        let paused = self.retries.removeAll(where: isMatch)
        for entry in committing + paused { self.queues.unbind(entry) }
        // The last ones first: a store with little room commits them in parts, and what is in hand when the process is killed
        // between two of them starts before what waits.
        for entry in (queued + committing).sorted(by: { $0.message.sequence > $1.message.sequence }) {
            self.present.remove(entry.message.key)
            // The row of a suspect says what the next process has to find.
            guard !entry.isSuspect else { continue }
            self.output.changes.append(self.change(entry, .waiting))
        }
        // Rows of retries say `retry`, and rows of suspects `in hand`: that is what the next process has to find.
        for entry in paused + self.suspects.removeAll(where: isMatch) {
            self.present.remove(entry.message.key)
        }
        switch self.alone {
        case .committing(let entry), .ready(let entry):
            guard isMatch(entry) else { return }
            self.alone = .none
            self.withdrawCommitments(of: [entry.message.key])
            self.present.remove(entry.message.key)
            // It has not run: this attempt is taken back.
            self.output.changes.append(self.change(entry, .inHand))
        case .none, .running: return
        }
    }
}
