enum Want: Sendable {
    /// What the installation's phase asks for, or its due retries.
    case installation(Int64)
    case source(Int)
    /// A message that goes first: the user opened what showed it, or a person has it tried again.
    case row(Int64, installation: Int64)

    var isRow: Bool { if case .row = self { true } else { false } }
}

/// What of one installation is in the store and not known.
struct Intake: Sendable {
    enum Phase: Sendable, Equatable {
        /// Rows that belong to no source are given to theirs. Exits: `paused`, when there are no more.
        case unsettled(after: Int64)
        /// With strict order: messages that wait for their retries are found out. Exits: `suspects`.
        case paused(after: Int64)
        /// Rows in hand of an earlier process are read. Exits: `sources`.
        case suspects(after: Int64)
        /// The sources that have rows are listed. Exits: `open`, when all are known.
        case sources(after: Int64?)
        /// Everything that waits is of sources that are known, so what arrives for others may be taken into memory.
        case open
    }

    /// Tells it from the ones before it of the same installation.
    let attachment: Int
    let takesCommands: Bool
    var phase = Phase.unsettled(after: 0)
    var isClaiming = false
    var isWanted = false
    /// A row of an unknown source was stored while sources were listed.
    var missesSources = false
    /// `nil` if no look for retries is planned.
    var nextLook: MonotonicInstant?
    /// Its retries are looked at when that is known.
    var hasDueRetries = true
    var hasFailedClaims = false
    var failedRows: [Int64] = []

    var knowsSuspects: Bool {
        switch self.phase {
        case .unsettled, .paused, .suspects: false
        case .sources, .open: true
        }
    }
}

extension Scheduler {
    /// What was in hand comes first.
    package mutating func attached(_ installation: Int64, takesCommands: Bool) {
        guard self.intakes[installation] == nil else { return }
        self.lastAttachment += 1
        self.intakes[installation] = Intake(attachment: self.lastAttachment, takesCommands: takesCommands)
        self.want(installation)
    }

    /// Running calls go on; what has not started waits in the store.
    package mutating func detached(_ installation: Int64) {
        guard self.intakes.removeValue(forKey: installation) != nil else { return }
        self.stalled.remove(installation)
        self.leave { $0 == installation }
    }

    /// Starts nothing any more and gives back what has not started. Running calls go on.
    package mutating func drain() {
        guard !self.isDraining else { return }
        self.isDraining = true
        self.leave { _ in true }
    }

    private mutating func leave(_ isLeft: (Int64) -> Bool) {
        for case let call? in self.calls where isLeft(self.sources[call.place].id.installation) {
            if self.hasSuspects(call.place) { self.sources[call.place].staysInHand = true }
            if call.isCuttable { self.output.cuts.append(call.id) }
        }
        for place in self.knownPlaces where isLeft(self.sources[place].id.installation) {
            // With one that stays in hand its neighbours do, too, or they would wait behind it in the next process.
            let staysInHand = self.hasSuspects(place)
            let messages = self.sources[place].queue.removeAll { _ in true }
            if staysInHand { self.heldSuspects.formUnion(messages.map(\.sequence)) }
            self.giveBack(messages, at: place)
        }
        // Their rows say `in hand`, and that is what the next process has to find.
        for suspect in self.suspects.removeAll(where: { isLeft($0.installation) }) { self.forget(suspect) }
        if case .committing(let message) = self.alone, isLeft(message.installation) {
            self.alone = .none
            self.change(message, .inHand)
            self.forget(message)
        }
        for place in self.knownPlaces where isLeft(self.sources[place].id.installation) {
            self.setHasRows(place, false)
            self.sources[place].blockers = []
            self.tidy(place)
        }
    }

    /// What runs alone has not ended the process: its attempt is taken back.
    package mutating func stop() {
        guard case .running(let slot) = self.alone, let call = self.calls[slot], !call.isOver,
            let message = call.messages.first
        else { return }
        self.change(message, .inHand)
    }

    mutating func forget(_ message: QueuedMessage) {
        guard let place = self.place(of: message.source) else { return }
        self.unweigh(message.bytes, at: place)
        self.sources[place].arriving -= 1
        self.tidy(place)
    }

    /// The store's rows are others than they were: all but what is in memory is read anew.
    package mutating func readAgain() {
        for (installation, intake) in self.intakes where intake.knowsSuspects {
            self.intakes[installation]?.phase = .sources(after: nil)
            self.want(installation)
        }
    }

    /// A message waits in the store that did not. One that `goesFirst` is claimed by itself.
    package mutating func appeared(_ sequence: Int64, source: Int64?, installation: Int64, goesFirst: Bool) {
        guard let intake = self.intakes[installation] else { return }
        let source = source.map { SourceID(installation: installation, number: $0) }
        // It waits for no retry any more.
        if let source, let place = self.place(of: source) { self.unblock(sequence, at: place) }
        // Before that it is found when its source is listed.
        guard intake.knowsSuspects else { return }
        if goesFirst { self.wants.insert(.row(sequence, installation: installation)) { !$0.isRow } }
        if let source { self.rowsAppeared(in: source) }
    }

    /// Rows wait in a source, of which everything is listed already.
    mutating func rowsAppeared(in source: SourceID) {
        if let place = self.makePlace(of: source) { return self.rowsAppeared(at: place) }
        // There are more sources than may be known: this one is found when some of them have nothing any more.
        if self.intakes[source.installation]?.phase == .open {
            self.intakes[source.installation]?.phase = .sources(after: nil)
            self.want(source.installation)
        } else {
            self.intakes[source.installation]?.missesSources = true
        }
    }

    // MARK: - What the store says when an agent begins

    mutating func advance(_ claim: StoreClaim, _ answer: StoreAnswer) {
        let installation = claim.installation
        let last = answer.messages.last?.sequence
        var phase: Intake.Phase
        switch claim.kind {
        case .unsettled(let after):
            for stored in answer.messages {
                guard let message = self.decode(stored) else { continue }
                self.change(message, .waiting(source: message.source.number))
            }
            phase = self.configuration.isStrictlyOrdered ? .paused(after: 0) : .suspects(after: 0)
            if !answer.isComplete { phase = .unsettled(after: last ?? after) }
        case .paused(let after):
            for stored in answer.messages {
                guard let message = self.decode(stored) else { continue }
                self.addBlocker(message.sequence, at: self.needPlace(of: message.source))
            }
            phase = answer.isComplete ? .suspects(after: 0) : .paused(after: last ?? after)
        case .suspects(let after):
            for stored in answer.messages { self.suspect(stored) }
            phase = answer.isComplete ? .sources(after: nil) : .suspects(after: last ?? after)
        case .sources(let after):
            var (listed, isComplete) = (after, answer.isComplete)
            for number in answer.sources {
                guard let place = self.makePlace(of: SourceID(installation: installation, number: number)) else {
                    // Others have taken the room since: the rest is listed when there is some.
                    isComplete = false
                    break
                }
                self.setHasRows(place, true)
                self.wantSource(place)
                listed = number
            }
            phase = .sources(after: listed)
            if isComplete {
                phase = self.intakes[installation]?.missesSources != true ? .open : .sources(after: nil)
                self.intakes[installation]?.missesSources = false
            }
        case .source, .row, .retries: return
        }
        self.intakes[installation]?.phase = phase
    }

    mutating func addBlocker(_ sequence: Int64, at place: Int) {
        // One whose call was under way when its agent began anew is known twice.
        guard !self.sources[place].blockers.contains(sequence) else { return }
        let index = self.sources[place].blockers.firstIndex { $0 > sequence } ?? self.sources[place].blockers.endIndex
        self.sources[place].blockers.insert(sequence, at: index)
    }

    /// A retry may be claimed before all suspects are read.
    private func isQueued(_ message: QueuedMessage) -> Bool {
        guard let place = self.places[message.source] else { return false }
        return self.sources[place].queue.contains { $0.sequence == message.sequence }
    }

    /// A message was in hand when an earlier process ended.
    mutating func suspect(_ stored: StoredMessage) {
        // One whose call has gone on since its agent was detached is not suspected of anything.
        guard !self.isCalled(stored.sequence), self.uncommitted[stored.sequence] == nil,
            let message = self.decode(stored), !self.isQueued(message),
            let intake = self.intakes[message.installation]
        else { return }
        let place = self.needPlace(of: message.source)
        self.note(.received, message)
        if message.isCommand, !intake.takesCommands {
            self.bury(message, .command)
        } else if max(message.crashes, message.attempts) >= self.configuration.maximumAttempts {
            self.bury(message, .crashed)
        } else {
            // One that is held back joins its source's queue when its turn has come.
            self.weigh(message.bytes, at: place)
            self.sources[place].arriving += 1
            self.suspects.append(message)
            return
        }
        self.tidy(place)
    }
}
