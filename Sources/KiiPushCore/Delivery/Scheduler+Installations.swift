enum ClaimTarget: Sendable {
    case installation(Int64)
    case source(Int)
    /// One message. It goes first if the user opened its notification, or a person retried it.
    case row(Int64, installation: Int64)

    var isRow: Bool { if case .row = self { true } else { false } }
}

struct Intake: Sendable {
    let attachment: Int
    let takesCommands: Bool
    /// The claim for the next page of rows: `unsettled`, then with strict order `paused`, then `suspects`, then
    /// `sources`. `nil`: all sources with rows are known, so new messages of other sources may go into memory at once.
    var nextPage: StoreClaim.Kind? = .unsettled(after: 0)
    var isClaiming = false
    var isWanted = false
    var missesSources = false
    var nextCheck: MonotonicInstant?
    var hasDueRetries = true
    var hasFailedClaims = false
    var failedRows: [Int64] = []

    var knowsSuspects: Bool {
        switch self.nextPage {
        case .unsettled, .paused, .suspects: false
        default: true
        }
    }
}

extension Scheduler {
    package mutating func attached(_ installation: Int64, takesCommands: Bool) {
        guard self.intakes[installation] == nil else { return }
        self.lastAttachment += 1
        self.intakes[installation] = Intake(attachment: self.lastAttachment, takesCommands: takesCommands)
        self.queueClaim(installation)
    }

    /// Running handlers go on. Messages that have not started leave memory; the store keeps their rows.
    package mutating func detached(_ installation: Int64) {
        guard self.intakes.removeValue(forKey: installation) != nil else { return }
        self.stalled.remove(installation)
        self.leave { $0 == installation }
    }

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
            let staysInHand = self.hasSuspects(place)
            let messages = self.sources[place].queue.removeAll { _ in true }
            if staysInHand { self.heldSuspects.formUnion(messages.map(\.sequence)) }
            self.unclaim(messages, at: place)
        }
        // Messages that may have ended a process leave memory. Their rows stay `inHand`, for the next run of the agent.
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

    /// The process ends in order while an attempt runs alone. That attempt did not cause the end, so it does not count.
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

    /// Lists the sources of the store again, after the store's file was replaced or another process changed rows.
    package mutating func readAgain() {
        for (installation, intake) in self.intakes where intake.knowsSuspects {
            self.intakes[installation]?.nextPage = .sources(after: nil)
            self.queueClaim(installation)
        }
    }

    /// A message has begun to wait in the store. If `goesFirst`, a claim of its own reads the message.
    package mutating func appeared(_ sequence: Int64, source: Int64?, installation: Int64, goesFirst: Bool) {
        guard let intake = self.intakes[installation] else { return }
        let source = source.map { SourceID(installation: installation, number: $0) }
        if let source, let place = self.place(of: source) { self.unblock(sequence, at: place) }
        guard intake.knowsSuspects else { return }
        if goesFirst { self.queuedClaims.insert(.row(sequence, installation: installation)) { !$0.isRow } }
        if let source { self.rowsAppeared(in: source) }
    }

    mutating func rowsAppeared(in source: SourceID) {
        if let place = self.makePlace(of: source) { return self.rowsAppeared(at: place) }
        // The scheduler knows as many sources as it may. A later list of the store's sources will contain this source.
        if let intake = self.intakes[source.installation], intake.nextPage == nil {
            self.intakes[source.installation]?.nextPage = .sources(after: nil)
            self.queueClaim(source.installation)
        } else {
            self.intakes[source.installation]?.missesSources = true
        }
    }

    // MARK: - The store's answers when an agent begins

    mutating func advance(_ claim: StoreClaim, _ answer: StoreAnswer) {
        let installation = claim.installation
        let last = answer.messages.last?.sequence
        var next: StoreClaim.Kind?
        switch claim.kind {
        case .unsettled(let after):
            for stored in answer.messages {
                guard let message = self.decode(stored) else { continue }
                self.change(message, .waiting(source: message.source.number))
            }
            next = self.configuration.isStrictlyOrdered ? .paused(after: 0) : .suspects(after: 0)
            if !answer.isComplete { next = .unsettled(after: last ?? after) }
        case .paused(let after):
            for stored in answer.messages {
                guard let message = self.decode(stored) else { continue }
                self.addBlocker(message.sequence, at: self.needPlace(of: message.source))
            }
            next = answer.isComplete ? .suspects(after: 0) : .paused(after: last ?? after)
        case .suspects(let after):
            for stored in answer.messages { self.suspect(stored) }
            next = answer.isComplete ? .sources(after: nil) : .suspects(after: last ?? after)
        case .sources(let after):
            var (listed, isComplete) = (after, answer.isComplete)
            for number in answer.sources {
                guard let place = self.makePlace(of: SourceID(installation: installation, number: number)) else {
                    isComplete = false
                    break
                }
                self.setHasRows(place, true)
                self.queueSourceClaim(place)
                listed = number
            }
            next = .sources(after: listed)
            if isComplete {
                next = self.intakes[installation]?.missesSources == true ? .sources(after: nil) : nil
                self.intakes[installation]?.missesSources = false
            }
        case .source, .row, .retries: return
        }
        self.intakes[installation]?.nextPage = next
    }

    mutating func addBlocker(_ sequence: Int64, at place: Int) {
        // A message whose call was under way when its agent restarted may be added twice.
        guard !self.sources[place].blockers.contains(sequence) else { return }
        let index = self.sources[place].blockers.firstIndex { $0 > sequence } ?? self.sources[place].blockers.endIndex
        self.sources[place].blockers.insert(sequence, at: index)
    }

    private func isQueued(_ message: QueuedMessage) -> Bool {
        guard let place = self.places[message.source] else { return false }
        return self.sources[place].queue.contains { $0.sequence == message.sequence }
    }

    /// The message may have ended an earlier process. So it runs alone, if an attempt is left.
    mutating func suspect(_ stored: StoredMessage) {
        // A message whose call went on after its agent was detached has not ended a process.
        guard !self.isCalled(stored.sequence), self.uncommitted[stored.sequence] == nil,
            let message = self.decode(stored), !self.isQueued(message),
            let intake = self.intakes[message.installation]
        else { return }
        let place = self.needPlace(of: message.source)
        self.note(.received, message)
        if message.isCommand, !intake.takesCommands {
            self.deadLetter(message, .command)
        } else if max(message.crashes, message.attempts) >= self.configuration.maximumAttempts {
            self.deadLetter(message, .crashed)
        } else {
            self.weigh(message.bytes, at: place)
            self.sources[place].arriving += 1
            self.suspects.append(message)
            return
        }
        self.tidy(place)
    }
}
