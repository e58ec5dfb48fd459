/// What is to be read from the store.
enum Want: Sendable {
    /// What the installation's phase asks for, or its due retries.
    case installation(Int64)
    case source(Int)
    /// A message that goes first: the user opened what showed it, or a person has it tried again.
    case row(Int64, installation: Int64)
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
    /// Whether its handler takes thing-if commands.
    let takesCommands: Bool
    var phase = Phase.unsettled(after: 0)
    var isClaiming = false
    var isWanted = false
    /// A row of a source that is not known was stored while sources were listed.
    var missesSources = false
    /// When the next look for retries is due; `nil` if none is planned.
    var nextLook: MonotonicInstant?
    var hasDueRetries = false
    /// Some of its sources could not be read.
    var hasFailedClaims = false

    /// Whether everything that was in hand when the process before this one ended is known.
    var knowsSuspects: Bool {
        switch self.phase {
        case .unsettled, .paused, .suspects: false
        case .sources, .open: true
        }
    }
}

extension Scheduler {
    // MARK: - Installations

    /// Starts to deliver what the store holds for an installation, beginning with what was in hand.
    package mutating func attached(_ installation: Int64, takesCommands: Bool) {
        guard self.intakes[installation] == nil else { return }
        self.lastAttachment += 1
        self.intakes[installation] = Intake(attachment: self.lastAttachment, takesCommands: takesCommands)
        self.want(installation)
    }

    /// Stops delivering for an installation. Its running calls go on; what has not started waits in the store.
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
        for call in self.calls {
            guard let call, isLeft(self.sources[call.place].id.installation), call.isCuttable else { continue }
            self.output.cuts.append(call.id)
        }
        self.giveBackQueues(of: isLeft)
        // Their rows say `in hand`, and that is what the next process has to find.
        for suspect in self.suspects.removeAll(where: { isLeft($0.installation) }) { self.forget(suspect) }
        if case .committing(let message) = self.alone, isLeft(message.installation) { self.takeBackAlone(message) }
        for place in self.sources.indices where isLeft(self.sources[place].id.installation) {
            self.setHasRows(place, false)
            self.sources[place].blockers = []
            self.tidy(place)
        }
    }

    /// The attempt that was to be made alone is not made.
    mutating func takeBackAlone(_ message: QueuedMessage) {
        self.alone = .none
        self.change(message, .inHand)
        self.forget(message)
    }

    /// Lets go of a suspect.
    mutating func forget(_ message: QueuedMessage) {
        guard let place = self.place(of: message.source) else { return }
        self.unweigh(message, at: place)
        self.sources[place].arriving -= 1
        self.tidy(place)
    }

    /// The store's rows are others than they were: everything is read anew, but for what is in memory.
    package mutating func readAgain() {
        for (installation, intake) in self.intakes where intake.phase == .open || intake.phase.isListing {
            self.intakes[installation]?.phase = .sources(after: nil)
            self.want(installation)
        }
    }

    /// A message waits in the store that did not, in a source.
    ///
    /// - Parameter goesFirst: whether it is claimed by itself.
    package mutating func appeared(_ sequence: Int64, in source: SourceID?, of installation: Int64, goesFirst: Bool) {
        guard let intake = self.intakes[installation] else { return }
        // It waits for no retry any more.
        if let source, let place = self.place(of: source) { self.unblock(sequence, at: place) }
        // Before that it is found when its source is listed.
        guard intake.knowsSuspects else { return }
        if goesFirst { self.wants.insert(.row(sequence, installation: installation)) { !$0.isRow } }
        if let source { self.rowsAppeared(in: source) }
    }

    /// Rows wait in a source, of which everything is listed already.
    private mutating func rowsAppeared(in source: SourceID) {
        if let place = self.makePlace(of: source) { return self.rowsAppeared(at: place) }
        // There are more sources than may be known: this one is found when some of them have nothing any more.
        if self.intakes[source.installation]?.phase == .open {
            self.intakes[source.installation]?.phase = .sources(after: nil)
            self.want(source.installation)
        } else {
            self.intakes[source.installation]?.missesSources = true
        }
    }

    // MARK: - Arrivals

    /// Decides whether a message that is about to be stored is in hand at once: its installation has nothing unknown, its
    /// source nothing that waits, and there is room. The others wait in the store.
    package mutating func admit(_ source: SourceID, bytes: Int) -> Bool {
        guard let intake = self.intakes[source.installation], !self.isDraining else { return false }
        // Before that it is found when its source is listed.
        guard intake.knowsSuspects else { return false }
        guard intake.phase == .open, let place = self.makePlace(of: source) else {
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
        self.sources[place].weight += weight
        self.memoryWeight += weight
        return true
    }

    /// A message that was admitted is stored.
    package mutating func stored(_ message: QueuedMessage) {
        guard let place = self.place(of: message.source) else { return }
        self.sources[place].arriving -= 1
        self.accept(message, at: place)
    }

    /// A message that was admitted is not stored after all.
    package mutating func released(_ source: SourceID, bytes: Int) {
        guard let place = self.place(of: source) else { return }
        let weight = self.scale.weight(of: bytes)
        self.sources[place].arriving -= 1
        self.sources[place].weight -= weight
        self.memoryWeight -= weight
        if self.sources[place].hasRows { self.wantSource(place) }
        self.tidy(place)
    }

    /// A message came again; it is in memory, and nothing is started for it.
    package mutating func joined(_ sequence: Int64, installation: Int64) {
        self.counters.joined += 1
        self.note(.joined, sequence, installation)
    }

    /// A message was refused as it was stored.
    package mutating func refused(_ sequence: Int64, installation: Int64, _ reason: DeadLetterReason) {
        self.counters.received += 1
        self.counters.dead += 1
        self.note(.dead(reason), sequence, installation)
    }

    /// Takes a message in hand into its queue, whose weight is counted.
    private mutating func accept(_ message: QueuedMessage, at place: Int) {
        guard let intake = self.intakes[message.installation], !self.isDraining else {
            return self.giveBack([message], at: place)
        }
        self.counters.received += 1
        self.note(.received, message)
        if message.isCommand, !intake.takesCommands {
            self.unweigh(message, at: place)
            self.bury(message, .command)
            return self.tidy(place)
        }
        self.enqueue(message, at: place)
        self.unblock(message.sequence, at: place)
    }

    /// A message does not wait for its retry any more.
    mutating func unblock(_ sequence: Int64, at place: Int) {
        guard let index = self.sources[place].blockers.firstIndex(of: sequence) else { return }
        self.sources[place].blockers.remove(at: index)
        self.makeReady(place)
        self.wantSource(place)
    }

    // MARK: - Claims

    mutating func want(_ installation: Int64) {
        guard let intake = self.intakes[installation], !intake.isWanted, !intake.isClaiming else { return }
        self.intakes[installation]?.isWanted = true
        self.wants.append(.installation(installation))
    }

    /// Has a source read that has rows and half of its share in memory, or less.
    mutating func wantSource(_ place: Int) {
        let source = self.sources[place]
        guard source.hasRows, !source.isWanted, !source.isClaiming, source.weight * 2 <= self.share,
            self.intakes[source.id.installation]?.knowsSuspects == true
        else { return }
        self.sources[place].isWanted = true
        self.wants.append(.source(place))
    }

    /// Asks the store for what is wanted while there is room.
    mutating func claim() {
        guard !self.isDraining, !self.isStoreFailing else { return }
        while self.room > 0, let want = self.wants.popFirst() {
            switch want {
            case .installation(let installation): self.claim(of: installation)
            case .source(let place): self.claimSource(place)
            case .row(let sequence, let installation):
                guard self.intakes[installation] != nil else { continue }
                self.claim(installation, .row(sequence), limit: 1)
            }
        }
        self.noteCrowding()
    }

    private mutating func claim(of installation: Int64) {
        self.intakes[installation]?.isWanted = false
        guard let intake = self.intakes[installation], !intake.isClaiming else { return }
        let page = max(1, min(self.room, self.configuration.messagesInMemory / 2))
        let kind: StoreClaim.Kind
        switch intake.phase {
        case .unsettled(let after): kind = .unsettled(after: after)
        case .paused(let after): kind = .paused(after: after)
        case .suspects(let after): kind = .suspects(after: after)
        case .sources, .open:
            if intake.hasDueRetries {
                self.intakes[installation]?.hasDueRetries = false
                kind = .retries
            } else if case .sources(let after) = intake.phase {
                let left = Self.mostSources - self.places.count
                guard left > 0 else {
                    self.stalled.insert(installation)
                    return
                }
                self.intakes[installation]?.isClaiming = true
                return self.claim(installation, .sources(after: after), limit: min(left, 1000), reserves: false)
            } else {
                return
            }
        }
        self.intakes[installation]?.isClaiming = true
        self.claim(installation, kind, limit: page)
    }

    private mutating func claimSource(_ place: Int) {
        self.sources[place].isWanted = false
        let source = self.sources[place]
        guard source.hasRows, !source.isClaiming, self.intakes[source.id.installation] != nil else {
            return self.tidy(place)
        }
        self.sources[place].isClaiming = true
        self.sources[place].hasRowsSince = false
        self.claim(
            source.id.installation, .source(source.id.number, before: source.blockers.first),
            limit: max(1, min(self.room, self.share - source.weight)))
    }

    private mutating func claim(_ installation: Int64, _ kind: StoreClaim.Kind, limit: Int, reserves: Bool = true) {
        guard let intake = self.intakes[installation] else { return }
        if reserves { self.memoryWeight += limit }
        self.output.claims.append(
            StoreClaim(
                installation: installation, attachment: intake.attachment, kind: kind, limit: limit, scale: self.scale))
    }

    /// A claim was not answered, and is none any more: the turn that had it failed, or its installation is detached.
    package mutating func declined(_ claim: StoreClaim) {
        var answer = StoreAnswer()
        answer.isFailure = true
        self.claimed(claim, answer)
    }

    /// The store has answered a claim.
    package mutating func claimed(_ claim: StoreClaim, _ answer: StoreAnswer) {
        if case .sources = claim.kind {} else { self.memoryWeight -= claim.limit }
        let isCurrent = self.intakes[claim.installation]?.attachment == claim.attachment
        switch claim.kind {
        case .source(let number, _):
            self.sourceClaimed(SourceID(installation: claim.installation, number: number), answer, isCurrent: isCurrent)
        case .row(let sequence):
            self.take(answer.messages, isCurrent: isCurrent)
            if answer.isFailure, isCurrent {
                self.wants.append(.row(sequence, installation: claim.installation))
            }
        case .retries:
            self.take(answer.messages, isCurrent: isCurrent)
            guard isCurrent else { return }
            self.intakes[claim.installation]?.isClaiming = false
            if answer.isFailure {
                self.look(claim.installation, at: self.now + .seconds(1))
            } else if !answer.isComplete {
                self.intakes[claim.installation]?.hasDueRetries = true
            } else if let next = answer.nextRetry {
                self.look(claim.installation, at: self.now + max(next, .milliseconds(10)))
            }
            self.want(claim.installation)
        case .unsettled, .paused, .suspects, .sources:
            guard isCurrent else { return }
            self.intakes[claim.installation]?.isClaiming = false
            if answer.isFailure { return self.claimFailed(claim.installation) }
            self.advance(claim, answer)
            self.want(claim.installation)
        }
    }

    private mutating func sourceClaimed(_ source: SourceID, _ answer: StoreAnswer, isCurrent: Bool) {
        self.take(answer.messages, isCurrent: isCurrent)
        guard let place = self.place(of: source), self.sources[place].isClaiming else { return }
        self.sources[place].isClaiming = false
        guard isCurrent, !answer.isFailure else {
            if isCurrent { self.claimFailed(source.installation) } else { self.wantSource(place) }
            return self.tidy(place)
        }
        // Behind one that waits for its retry nothing is to be had.
        let isBlocked = !self.sources[place].blockers.isEmpty
        if answer.isComplete, !self.sources[place].hasRowsSince, !isBlocked { self.setHasRows(place, false) }
        if !answer.isComplete || !isBlocked { self.wantSource(place) }
        self.tidy(place)
    }

    private mutating func claimFailed(_ installation: Int64) {
        self.intakes[installation]?.hasFailedClaims = true
        self.look(installation, at: self.now + .seconds(1))
    }

    /// Takes rows into memory that the store has marked as in hand.
    private mutating func take(_ messages: [StoredMessage], isCurrent: Bool) {
        for stored in messages {
            guard let message = self.decode(stored) else { continue }
            guard isCurrent, let place = self.makePlace(of: message.source) else {
                // Its agent is gone, or there are more sources than may be known.
                self.change(message, .waiting(source: message.source.number))
                if isCurrent { self.rowsAppeared(in: message.source) }
                continue
            }
            self.weigh(message, at: place)
            self.accept(message, at: place)
        }
    }

    private mutating func decode(_ stored: StoredMessage) -> QueuedMessage? {
        switch DecodedContent(stored) {
        case .content(let content): return QueuedMessage(stored, content)
        case .refused(let reason):
            self.refused(stored.sequence, installation: stored.installation, reason)
            self.output.changes.append(
                MessageChange(
                    sequence: stored.sequence, installation: stored.installation, verdict: .dead(reason),
                    attempts: stored.attempts, crashes: stored.crashes))
            return nil
        }
    }

    private mutating func advance(_ claim: StoreClaim, _ answer: StoreAnswer) {
        let installation = claim.installation
        let last = answer.messages.last?.sequence
        switch claim.kind {
        case .unsettled(let after):
            for stored in answer.messages {
                guard let message = self.decode(stored) else { continue }
                self.change(message, .waiting(source: message.source.number))
            }
            let next = self.configuration.isStrictlyOrdered ? Intake.Phase.paused(after: 0) : .suspects(after: 0)
            self.intakes[installation]?.phase = answer.isComplete ? next : .unsettled(after: last ?? after)
        case .paused(let after):
            for stored in answer.messages { self.block(stored) }
            self.intakes[installation]?.phase = answer.isComplete ? .suspects(after: 0) : .paused(after: last ?? after)
        case .suspects(let after):
            for stored in answer.messages { self.suspect(stored) }
            self.intakes[installation]?.phase =
                answer.isComplete ? .sources(after: nil) : .suspects(after: last ?? after)
            if answer.isComplete { self.intakes[installation]?.hasDueRetries = true }
        case .sources(let after):
            for number in answer.sources {
                guard let place = self.makePlace(of: SourceID(installation: installation, number: number)) else { break }
                self.setHasRows(place, true)
                self.wantSource(place)
            }
            guard answer.isComplete else {
                self.intakes[installation]?.phase = .sources(after: answer.sources.last ?? after)
                return
            }
            let isAll = self.intakes[installation]?.missesSources != true
            self.intakes[installation]?.missesSources = false
            self.intakes[installation]?.phase = isAll ? .open : .sources(after: nil)
        case .source, .row, .retries: return
        }
    }

    /// A message waits for its retry, and holds back those behind it.
    private mutating func block(_ stored: StoredMessage) {
        guard let message = self.decode(stored), let place = self.makePlace(of: message.source) else { return }
        self.addBlocker(message.sequence, at: place)
    }

    mutating func addBlocker(_ sequence: Int64, at place: Int) {
        let index = self.sources[place].blockers.firstIndex { $0 > sequence } ?? self.sources[place].blockers.endIndex
        self.sources[place].blockers.insert(sequence, at: index)
    }

    /// A message was in hand when an earlier process ended.
    private mutating func suspect(_ stored: StoredMessage) {
        // One whose call has gone on since its agent was detached is not suspected of anything.
        guard !self.isCalled(stored.sequence), let message = self.decode(stored),
            let place = self.makePlace(of: message.source), let intake = self.intakes[message.installation]
        else { return }
        self.counters.received += 1
        self.note(.received, message)
        let limit = self.configuration.maximumCrashes ?? self.configuration.maximumAttempts
        if message.isCommand, !intake.takesCommands {
            self.bury(message, .command)
        } else if message.crashes >= limit || message.attempts >= self.configuration.maximumAttempts {
            self.bury(message, .crashed)
        } else {
            // One that is held back joins its source's queue when its turn has come.
            self.weigh(message, at: place)
            self.sources[place].arriving += 1
            self.suspects.append(message)
            return
        }
        self.tidy(place)
    }

    /// Plans a look into the store, unless an earlier one is planned: each look says when the next one is due.
    mutating func look(_ installation: Int64, at due: MonotonicInstant) {
        guard let intake = self.intakes[installation], intake.nextLook.map({ due < $0 }) ?? true else { return }
        self.intakes[installation]?.nextLook = due
        self.looks.add(installation, due: due)
    }

    /// Looks for due retries in the store, and repeats claims that failed.
    mutating func lookWhereDue() {
        while let installation = self.looks.popDue(self.now) {
            guard let next = self.intakes[installation]?.nextLook, next <= self.now else { continue }
            self.intakes[installation]?.nextLook = nil
            self.intakes[installation]?.hasDueRetries = true
            self.want(installation)
            guard self.intakes[installation]?.hasFailedClaims == true else { continue }
            self.intakes[installation]?.hasFailedClaims = false
            for place in self.sources.indices where self.sources[place].id.installation == installation {
                self.wantSource(place)
            }
        }
    }
}

extension Want {
    var isRow: Bool {
        if case .row = self { true } else { false }
    }
}

extension Intake.Phase {
    var isListing: Bool {
        if case .sources = self { true } else { false }
    }
}
