extension Scheduler {
    mutating func queueClaim(_ installation: Int64) {
        guard let intake = self.intakes[installation], !intake.isWanted, !intake.isClaiming else { return }
        self.intakes[installation]?.isWanted = true
        self.queuedClaims.append(.installation(installation))
    }

    mutating func queueSourceClaim(_ place: Int) {
        let source = self.sources[place]
        guard source.hasRows, !source.isWanted, !source.isClaiming, source.weight * 2 <= self.share,
            self.intakes[source.id.installation]?.knowsSuspects == true
        else { return }
        self.sources[place].isWanted = true
        self.queuedClaims.append(.source(place))
    }

    mutating func claim() {
        guard !self.isDraining, !self.isStoreFailing else { return }
        while self.room > 0, let want = self.queuedClaims.popFirst() {
            switch want {
            case .installation(let installation): self.claim(of: installation)
            case .source(let place): self.claimSource(place)
            case .row(let sequence, let installation): self.claim(installation, .row(sequence), limit: 1)
            }
        }
        self.claimHeldUpRetry()
        self.noteCongestion()
    }

    /// With strict order, memory may be full of messages that wait for an earlier, failed message. The retry of that
    /// message is a row of the store. So one due retry is read although memory is full.
    private mutating func claimHeldUpRetry() {
        guard self.room <= 0, !self.heldSuspects.isEmpty, self.handedOut == 0 else { return }
        for (installation, intake) in self.intakes where intake.hasDueRetries && !intake.isClaiming {
            self.intakes[installation]?.hasDueRetries = false
            return self.claim(installation, .retries, limit: 1)
        }
    }

    private mutating func claim(of installation: Int64) {
        self.intakes[installation]?.isWanted = false
        guard let intake = self.intakes[installation], !intake.isClaiming else { return }
        // A claim reserves `limit` in memory. Thousands of agents may begin together, and most of their claims find no
        // rows, so each reserves only a part.
        let memory = self.configuration.messagesInMemory
        let size = max(1, min(self.room, max(memory / 64, memory / 2 / (1 + self.queuedClaims.count))))
        if intake.knowsSuspects, intake.hasDueRetries {
            self.intakes[installation]?.hasDueRetries = false
            self.claim(installation, .retries, limit: size)
        } else if case .sources(let after) = intake.nextPage {
            let left = min(Self.mostSources - self.places.count, 1000)
            guard left > 0 else {
                self.stalled.insert(installation)
                return
            }
            self.claim(installation, .sources(after: after), limit: left)
        } else if let page = intake.nextPage {
            self.claim(installation, page, limit: size)
        }
    }

    private mutating func claimSource(_ place: Int) {
        self.sources[place].isWanted = false
        let source = self.sources[place]
        guard source.hasRows, !source.isClaiming, self.intakes[source.id.installation] != nil else {
            return self.tidy(place)
        }
        self.sources[place].isClaiming = true
        self.sources[place].hasRowsSince = false
        self.sources[place].firstUnclaimed = nil
        self.claim(
            source.id.installation, .source(source.id.number, before: source.blockers.first),
            limit: max(1, min(self.room, self.share - source.weight)))
    }

    private mutating func claim(_ installation: Int64, _ kind: StoreClaim.Kind, limit: Int) {
        guard let intake = self.intakes[installation] else { return }
        switch kind {
        case .source, .row: break
        case .unsettled, .paused, .suspects, .sources, .retries: self.intakes[installation]?.isClaiming = true
        }
        if case .sources = kind {} else { self.memoryWeight += limit }
        self.output.claims.append(
            StoreClaim(
                installation: installation, attachment: intake.attachment, kind: kind, limit: limit, scale: self.scale))
    }

    package mutating func declined(_ claim: StoreClaim) { self.claimed(claim, StoreAnswer(failure: "declined")) }

    package mutating func claimed(_ claim: StoreClaim, _ answer: StoreAnswer) {
        if case .sources = claim.kind {} else { self.memoryWeight -= claim.limit }
        let isCurrent = self.intakes[claim.installation]?.attachment == claim.attachment
        switch claim.kind {
        case .source(let number, let before):
            let source = SourceID(installation: claim.installation, number: number)
            self.sourceClaimed(source, before: before, answer, isCurrent: isCurrent)
        case .row(let sequence):
            self.take(answer.messages, isCurrent: isCurrent)
            guard answer.isFailure, isCurrent else { return }
            self.intakes[claim.installation]?.failedRows.append(sequence)
            self.claimFailed(claim.installation)
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
            self.queueClaim(claim.installation)
        case .unsettled, .paused, .suspects, .sources:
            guard isCurrent else { return }
            self.intakes[claim.installation]?.isClaiming = false
            if answer.isFailure { return self.claimFailed(claim.installation) }
            self.advance(claim, answer)
            self.queueClaim(claim.installation)
        }
    }

    private mutating func sourceClaimed(_ source: SourceID, before: Int64?, _ answer: StoreAnswer, isCurrent: Bool) {
        let firstUnclaimed = self.place(of: source).flatMap { self.sources[$0].firstUnclaimed }
        self.take(answer.messages, isCurrent: isCurrent, after: firstUnclaimed)
        guard let place = self.place(of: source), self.sources[place].isClaiming else { return }
        self.sources[place].isClaiming = false
        guard isCurrent, !answer.isFailure else {
            if isCurrent { self.claimFailed(source.installation) } else { self.queueSourceClaim(place) }
            return self.tidy(place)
        }
        // If `before` is set, later rows may have stayed in the store, so the source keeps `hasRows`.
        let isComplete = answer.isComplete && !self.sources[place].hasRowsSince
        if isComplete, before == nil { self.setHasRows(place, false) }
        if !isComplete || self.sources[place].blockers.first != before { self.queueSourceClaim(place) }
        self.tidy(place)
    }

    mutating func claimFailed(_ installation: Int64) {
        self.intakes[installation]?.hasFailedClaims = true
        self.look(installation, at: self.now + .seconds(1))
    }

    /// - Parameter sequence: the first message that the scheduler returned to the store during the claim. To keep the
    ///   order, later ones of `messages` go back too, unless `messages` also contains that first one.
    mutating func take(_ messages: [StoredMessage], isCurrent: Bool, after sequence: Int64? = nil) {
        let last = messages.contains { $0.sequence == sequence } ? .max : sequence ?? .max
        var late: [QueuedMessage] = []
        for stored in messages {
            // Skips a message that a late success has ended, or whose answer the store is still writing.
            if self.finished.contains(stored.sequence) || self.uncommitted[stored.sequence] != nil { continue }
            guard let message = self.decode(stored) else { continue }
            guard isCurrent, let place = self.makePlace(of: message.source) else {
                self.change(message, .waiting(source: message.source.number))
                if isCurrent { self.rowsAppeared(in: message.source) }
                continue
            }
            self.weigh(message.bytes, at: place)
            if message.sequence > last { late.append(message) } else { self.accept(message, at: place) }
        }
        if let source = late.first?.source, let place = self.place(of: source) { self.unclaim(late, at: place) }
    }

    mutating func decode(_ stored: StoredMessage) -> QueuedMessage? {
        let content = DecodedContent(stored)
        guard case .refused(let reason) = content else { return QueuedMessage(stored, content) }
        self.refused(stored.sequence, installation: stored.installation, reason)
        self.change(
            stored.sequence, stored.installation, .dead(reason), attempts: stored.attempts, crashes: stored.crashes)
        return nil
    }

    mutating func look(_ installation: Int64, at due: MonotonicInstant) {
        guard let intake = self.intakes[installation], intake.nextCheck.map({ due < $0 }) ?? true else { return }
        self.intakes[installation]?.nextCheck = due
        self.retryChecks.add(installation, due: due)
    }

    mutating func checkDueRetries() {
        while let installation = self.retryChecks.popDue(self.now) {
            guard let next = self.intakes[installation]?.nextCheck, next <= self.now else { continue }
            self.intakes[installation]?.nextCheck = nil
            self.intakes[installation]?.hasDueRetries = true
            self.queueClaim(installation)
            guard self.intakes[installation]?.hasFailedClaims == true else { continue }
            self.intakes[installation]?.hasFailedClaims = false
            for sequence in self.intakes[installation]?.failedRows ?? [] {
                self.queuedClaims.append(.row(sequence, installation: installation))
            }
            self.intakes[installation]?.failedRows = []
            for place in self.knownPlaces where self.sources[place].id.installation == installation {
                self.queueSourceClaim(place)
            }
        }
    }
}
