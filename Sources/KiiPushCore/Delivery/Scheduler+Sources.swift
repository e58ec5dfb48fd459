/// One source that has something: messages in memory, rows in the store, or a call.
struct Source: Sendable {
    let id: SourceID
    /// In order; without those that a call has.
    var queue = Fifo<QueuedMessage>()
    /// What its messages in memory weigh, those of its call included.
    var weight = 0
    /// Messages on their way into the store that are to be queued then.
    var arriving = 0
    var call: Int?
    /// The agent has stopped and left suspects in hand. What its call gives back stays in hand as well. In the store it
    /// would wait behind them in the next process.
    var staysInHand = false
    /// Rows of it wait in the store. Whatever is received goes behind them, so it waits there too.
    var hasRows = false
    var isClaiming = false
    /// Rows were made to wait since it was claimed, so the claim may not have seen them.
    var hasRowsSince = false
    /// The first of those that were given back since it was claimed: what the claim brings may stand behind them.
    var firstGivenBack: Int64?
    /// Some of its rows in the store were given back: what is on its way into the store may stand behind them.
    var hasGivenBack = false
    var isReady = false
    var isWanted = false
    /// With strict order: its messages that wait for their retries, in order. What comes after the first is held back.
    var blockers: [Int64] = []

    /// Nothing is known of it that the next message would not tell as well.
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
    /// The most sources that are known. The others wait in the store until their sources are listed again.
    static var mostSources: Int { 10_000 }

    /// In an order that is the same in every process.
    var knownPlaces: [Int] { self.places.values.sorted() }

    mutating func place(of id: SourceID) -> Int? {
        if let latest, latest.id == id { return latest.place }
        guard let place = self.places[id] else { return nil }
        self.latest = (id, place)
        return place
    }

    /// Where a source stands; `nil` if it is not known, and no more may be.
    mutating func makePlace(of id: SourceID) -> Int? {
        self.place(of: id) ?? (self.places.count < Self.mostSources ? self.addPlace(of: id) : nil)
    }

    /// However many are known: for what an earlier process has left. Its rows in hand fitted into memory; and strict order
    /// must know each source with rows that wait for a retry.
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
        for installation in self.stalled { self.want(installation) }
        self.stalled = []
    }

    mutating func setHasRows(_ place: Int, _ hasRows: Bool) {
        guard self.sources[place].hasRows != hasRows else { return }
        self.sources[place].hasRows = hasRows
        if !hasRows { self.sources[place].hasGivenBack = false }
        self.backlogged += hasRows ? 1 : -1
    }

    /// What one source may have in memory while it has rows in the store.
    var share: Int {
        let memory = self.configuration.messagesInMemory
        return max(1, min(memory / 2, memory / 4 * 3 / max(1, self.backlogged)))
    }

    /// Keeps the order of sequences.
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
        if self.sources[place].hasRows { self.wantSource(place) }
    }

    mutating func makeReady(_ place: Int) {
        guard !self.sources[place].isReady, self.sources[place].mayStart else { return }
        self.sources[place].isReady = true
        self.ready.append(place)
    }

    /// None of them has started. The last one goes first: if the process is killed between two commits, what is still
    /// in hand is older than what waits.
    mutating func giveBack(_ messages: some BidirectionalCollection<QueuedMessage>, at place: Int) {
        guard !messages.isEmpty else { return }
        for message in messages.reversed() {
            self.unweigh(message.bytes, at: place)
            guard self.heldSuspects.remove(message.sequence) == nil, self.finished.remove(message.sequence) == nil
            else { continue }
            self.sources[place].firstGivenBack = min(self.sources[place].firstGivenBack ?? .max, message.sequence)
            self.sources[place].hasGivenBack = true
            self.change(message, .waiting(source: message.source.number))
            self.react(to: message.sequence, message.installation)
        }
        self.rowsAppeared(at: place)
    }

    mutating func rowsAppeared(at place: Int) {
        guard self.intakes[self.sources[place].id.installation] != nil else { return }
        self.setHasRows(place, true)
        self.sources[place].hasRowsSince = true
        self.wantSource(place)
    }

    // MARK: - Sharing memory

    /// When sources are to keep to their share.
    var sharingDue: MonotonicInstant? { self.crowdedSince.map { $0 + .milliseconds(100) } }

    mutating func noteCrowding() {
        let isCrowded = !self.isDraining && self.room <= 0 && !self.wants.isEmpty
        self.crowdedSince = isCrowded ? self.crowdedSince ?? self.now : nil
    }

    /// Calls give back what they have not started first.
    mutating func shareMemory() {
        guard let due = self.sharingDue, due <= self.now else { return }
        self.crowdedSince = self.now
        self.isTrimDue = true
        let share = self.trimmedShare
        for case let call? in self.calls
        where self.sources[call.place].weight > share && call.isCuttable && !call.isAlone {
            self.output.cuts.append(call.id)
        }
    }

    /// Whether the source has suspects that have not run yet. They stay in hand until then, and so do those around them.
    func hasSuspects(_ place: Int) -> Bool {
        let source = self.sources[place]
        if self.suspects.contains(where: { $0.source == source.id }) { return true }
        return !self.heldSuspects.isEmpty && source.queue.contains { self.heldSuspects.contains($0.sequence) }
    }

    private var trimmedShare: Int { max(1, self.configuration.messagesInMemory / 4 * 3 / max(1, self.places.count)) }

    mutating func trim() {
        guard self.isTrimDue else { return }
        self.isTrimDue = false
        // Nothing of a source goes back while suspects wait that come after it.
        guard self.suspects.isEmpty, case .none = self.alone else { return }
        let share = self.trimmedShare
        for place in self.knownPlaces where self.sources[place].weight > share && !self.hasSuspects(place) {
            var excess = self.sources[place].weight - share
            var back: [QueuedMessage] = []
            // What is to be told to the handler because a user acted stays, and so does a retry: nobody waits behind them.
            while excess > 0, let last = self.sources[place].queue.last, last.openedBy == nil, last.firstStart == nil {
                _ = self.sources[place].queue.popLast()
                excess -= self.scale.weight(of: last.bytes)
                back.append(last)
            }
            self.giveBack(back.reversed(), at: place)
        }
    }
}
