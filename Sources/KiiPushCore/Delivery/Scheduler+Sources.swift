/// A source with messages in memory, rows in the store, or a call.
struct Source: Sendable {
    let id: SourceID
    /// In order, without the messages of the source's call.
    var queue = Fifo<QueuedMessage>()
    var weight = 0
    /// Messages that are neither queued nor called: the store is writing them or their answers, or they wait to run
    /// alone.
    var arriving = 0
    var call: Int?
    /// The agent stopped before it delivered messages that an ended process had in memory. So the call's messages stay
    /// `inHand` too: as waiting rows they would follow those messages.
    var staysInHand = false
    /// Rows of the source wait in the store, so new messages must wait there too.
    var hasRows = false
    var isClaiming = false
    /// Rows began to wait after the claim was made, so its answer may lack them.
    var hasRowsSince = false
    var firstUnclaimed: Int64?
    var hasUnclaimed = false
    var isReady = false
    var isWanted = false
    /// With strict order: messages that wait for their retries, or whose answers the store is writing, in order. The
    /// first one holds back all later messages.
    var blockers: [Int64] = []

    var isVoid: Bool {
        self.queue.isEmpty && self.arriving == 0 && self.call == nil && !self.hasRows && !self.isClaiming
            && !self.isReady && !self.isWanted && self.blockers.isEmpty
    }

    var mayStart: Bool {
        guard self.call == nil, let first = self.queue.first else { return false }
        return self.blockers.first.map { first.sequence < $0 } ?? true
    }
}

extension Scheduler {
    /// Sources beyond this number stay in the store until the scheduler lists sources again.
    static var mostSources: Int { 10_000 }

    /// Sorted, so that the order is the same in every process.
    var knownPlaces: [Int] { self.places.values.sorted() }

    mutating func place(of id: SourceID) -> Int? {
        if let latest, latest.id == id { return latest.place }
        guard let place = self.places[id] else { return nil }
        self.latest = (id, place)
        return place
    }

    /// `nil` if no more sources may be known.
    mutating func makePlace(of id: SourceID) -> Int? {
        self.place(of: id) ?? (self.places.count < Self.mostSources ? self.addPlace(of: id) : nil)
    }

    /// Exceeds ``mostSources`` if necessary, for rows that an earlier process left in state `inHand` or `retry`.
    mutating func needPlace(of id: SourceID) -> Int { self.place(of: id) ?? self.addPlace(of: id) }

    private mutating func addPlace(of id: SourceID) -> Int {
        let place: Int
        if let free = self.freePlaces.popLast() {
            place = free
            self.sources[place] = Source(id: id)
        } else {
            place = self.sources.count
            self.sources.append(Source(id: id))
        }
        self.places[id] = place
        self.latest = (id, place)
        return place
    }

    mutating func tidy(_ place: Int) {
        guard self.sources[place].isVoid, self.places[self.sources[place].id] == place else { return }
        if self.latest?.place == place { self.latest = nil }
        self.places[self.sources[place].id] = nil
        self.freePlaces.append(place)
        guard !self.stalled.isEmpty, self.places.count < Self.mostSources / 10 * 9 else { return }
        for installation in self.stalled { self.queueClaim(installation) }
        self.stalled = []
    }

    mutating func setHasRows(_ place: Int, _ hasRows: Bool) {
        guard self.sources[place].hasRows != hasRows else { return }
        self.sources[place].hasRows = hasRows
        if !hasRows { self.sources[place].hasUnclaimed = false }
        self.backlogged += hasRows ? 1 : -1
    }

    var share: Int {
        let memory = self.configuration.messagesInMemory
        return max(1, min(memory / 2, memory / 4 * 3 / max(1, self.backlogged)))
    }

    mutating func enqueue(_ message: QueuedMessage, at place: Int) {
        if let last = self.sources[place].queue.last, last.sequence > message.sequence {
            self.sources[place].queue.insert(message) { $0.sequence > message.sequence }
        } else {
            self.sources[place].queue.append(message)
        }
        self.makeReady(place)
    }

    mutating func weigh(_ bytes: Int, at place: Int) {
        let weight = self.scale.weight(of: bytes)
        self.sources[place].weight += weight
        self.memoryWeight += weight
    }

    mutating func unweigh(_ bytes: Int, at place: Int) {
        let weight = self.scale.weight(of: bytes)
        self.sources[place].weight -= weight
        self.memoryWeight -= weight
        if self.sources[place].hasRows { self.queueSourceClaim(place) }
    }

    mutating func makeReady(_ place: Int) {
        guard !self.sources[place].isReady, self.sources[place].mayStart else { return }
        self.sources[place].isReady = true
        self.ready.append(place)
    }

    /// Returns messages to the store, the last one first. If the process is killed between two commits, rows in state
    /// `inHand` are then older than waiting rows.
    mutating func unclaim(_ messages: some BidirectionalCollection<QueuedMessage>, at place: Int) {
        guard !messages.isEmpty else { return }
        for message in messages.reversed() {
            self.unweigh(message.bytes, at: place)
            guard self.heldSuspects.remove(message.sequence) == nil, self.finished.remove(message.sequence) == nil
            else { continue }
            self.sources[place].firstUnclaimed = min(self.sources[place].firstUnclaimed ?? .max, message.sequence)
            self.sources[place].hasUnclaimed = true
            self.change(message, .waiting(source: message.source.number))
            self.react(to: message.sequence, message.installation)
        }
        self.rowsAppeared(at: place)
    }

    mutating func rowsAppeared(at place: Int) {
        guard self.intakes[self.sources[place].id.installation] != nil else { return }
        self.setHasRows(place, true)
        self.sources[place].hasRowsSince = true
        self.queueSourceClaim(place)
    }

    // MARK: - Sharing memory

    var rebalanceDue: MonotonicInstant? { self.congestedSince.map { $0 + .milliseconds(100) } }

    mutating func noteCongestion() {
        let isCongested = !self.isDraining && self.room <= 0 && !self.queuedClaims.isEmpty
        self.congestedSince = isCongested ? self.congestedSince ?? self.now : nil
    }

    /// Ends the calls of sources that use too much memory. Then `trim` returns their queued messages to the store.
    mutating func rebalanceMemory() {
        guard let due = self.rebalanceDue, due <= self.now else { return }
        self.congestedSince = self.now
        self.isTrimDue = true
        let share = self.trimmedShare
        for case let call? in self.calls
        where self.sources[call.place].weight > share && call.isCuttable && !call.isAlone {
            self.output.cuts.append(call.id)
        }
    }

    func hasSuspects(_ place: Int) -> Bool {
        let source = self.sources[place]
        if self.suspects.contains(where: { $0.source == source.id }) { return true }
        return !self.heldSuspects.isEmpty && source.queue.contains { self.heldSuspects.contains($0.sequence) }
    }

    private var trimmedShare: Int { max(1, self.configuration.messagesInMemory / 4 * 3 / max(1, self.places.count)) }

    mutating func trim() {
        guard self.isTrimDue else { return }
        self.isTrimDue = false
        // While messages wait to run alone, no earlier message may return to the store: it would then come after them.
        guard self.suspects.isEmpty, case .none = self.alone else { return }
        let share = self.trimmedShare
        for place in self.knownPlaces where self.sources[place].weight > share && !self.hasSuspects(place) {
            var excess = self.sources[place].weight - share
            var back: [QueuedMessage] = []
            // Stops at a message that the user opened, or a retry whose total time is limited: these stay in memory.
            while excess > 0, let last = self.sources[place].queue.last, last.openedBy == nil, last.firstStart == nil {
                _ = self.sources[place].queue.popLast()
                excess -= self.scale.weight(of: last.bytes)
                back.append(last)
            }
            self.unclaim(back.reversed(), at: place)
        }
    }
}
