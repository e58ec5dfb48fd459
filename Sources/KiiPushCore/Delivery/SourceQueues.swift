/// The messages that wait for a handler, by source, and the sources whose turn it is.
///
/// A source has at most one call at a time. So its messages start in order, and it can hold one place only, however
/// slow it is.
struct SourceQueues<Message: Deliverable>: Sendable {
    typealias Entry = DeliveryEntry<Message>

    struct Identity: Hashable, Sendable {
        var installation: Int64
        var source: Message.Source
    }

    /// One that is unused keeps its place, for the next source.
    struct Queue: Sendable {
        var identity: Identity
        var entries = Fifo<Entry>()
        /// What ``entries`` weigh together.
        var weight = 0
        var isBusy = false
        /// It stands in ``SourceQueues/ready``.
        var isReady = false
        /// It stands in ``SourceQueues/readyForRunAlone``.
        var isReadyForRunAlone = false
        /// With strict order: messages that wait for a retry and hold back the others.
        var heldBack = 0
        /// How many messages one claim may take: grows while the handler is quick.
        var claimLimit = 1
        /// The first of its messages that was left in the store, which has every one that came after it.
        var firstInStore: Int64?
        /// Messages that were admitted and have not come yet, and what they weigh.
        var expected = 0
        var expectedWeight = 0
        /// It stands in ``SourceQueues/withRoom``.
        var isWithRoom = false

        var isUnused: Bool {
            self.entries.isEmpty && !self.isBusy && self.heldBack == 0 && self.firstInStore == nil
                && self.expected == 0
        }
    }

    /// What messages of one source that are kept may weigh while sources with long backlogs share what room there is, and
    /// the most messages that one claim may take.
    let share: Int
    let scale: DeliveryScale
    private let longestClaim: Int
    var numbers: [Identity: Int] = [:]
    var queues: [Queue] = []
    private var free: [Int] = []
    private var ready = Fifo<Int>()
    /// Sources whose first message is to run alone.
    private var readyForRunAlone = Fifo<Int>()
    /// The last source that was looked up: messages of one source come in runs.
    private var latest: (identity: Identity, number: Int)?
    /// By installation, sources of which the store has messages, and that have room for some of them.
    var withRoom: [Int64: Fifo<Int>] = [:]
    /// Installations that have come into ``withRoom``.
    var newlyWithRoom: Set<Int64> = []
    /// By installation, of how many sources messages were left in the store.
    var leftCounts: [Int64: Int] = [:]
    /// Of how many messages all sources are expecting that they come.
    var expectedCount = 0
    var count = 0

    init(share: Int, scale: DeliveryScale) {
        self.share = share
        self.scale = scale
        self.longestClaim = min(64, share)
    }

    /// Sources that a call could be started for.
    var readyCount: Int { self.ready.count }

    // MARK: - Coming in

    mutating func append(_ entry: Entry) {
        let number = self.number(of: entry.message)
        self.queues[number].entries.append(entry)
        self.queues[number].weight += self.weight(of: entry.message)
        self.count += 1
        self.makeReady(number)
    }

    /// Puts an entry back where its sequence belongs: before those that were received after it.
    mutating func putBack(_ entry: Entry) {
        let number = self.number(of: entry.message)
        self.queues[number].entries.insert(entry) { $0.message.sequence > entry.message.sequence }
        self.queues[number].weight += self.weight(of: entry.message)
        self.count += 1
        self.makeReady(number)
    }

    // MARK: - Calls

    /// Takes the next messages of the source whose turn it is, and marks the source as busy.
    mutating func claim() -> (source: Int, entries: [Entry])? {
        while let number = self.ready.popFirst() {
            self.queues[number].isReady = false
            guard self.queues[number].entries.first?.isSuspect != true else {
                self.makeReady(number)
                continue
            }
            // A run alone takes a source's place without taking its turn.
            guard !self.queues[number].isBusy, self.queues[number].heldBack == 0 else { continue }
            let limit = min(self.queues[number].claimLimit, self.queues[number].entries.count)
            guard let first = self.queues[number].entries.popFirst() else {
                self.forgetIfUnused(number)
                continue
            }
            var entries: [Entry] = []
            entries.reserveCapacity(limit)
            entries.append(first)
            // A message that failed before is claimed alone: until its call starts, a late success still counts.
            while entries.count < limit, first.attempts == 0,
                let entry = self.queues[number].entries.popFirst(where: { $0.attempts == 0 && !$0.isSuspect })
            {
                entries.append(entry)
            }
            self.forget(entries, of: number)
            self.queues[number].isBusy = true
            self.noteRoom(number)
            return (number, entries)
        }
        return nil
    }

    /// Marks the source of a message that is not in its queue as busy.
    mutating func occupy(_ message: Message) -> Int {
        let number = self.number(of: message)
        self.queues[number].isBusy = true
        return number
    }

    /// The source's call is over.
    mutating func release(_ number: Int, wasQuick: Bool) {
        self.queues[number].isBusy = false
        self.queues[number].claimLimit = wasQuick ? min(self.queues[number].claimLimit * 2, self.longestClaim) : 1
        self.makeReady(number)
        self.forgetIfUnused(number)
    }

    // MARK: - Strict order

    /// Takes a message that is to run alone, and whose turn it is.
    mutating func popSuspect() -> Entry? {
        while let number = self.readyForRunAlone.popFirst() {
            self.queues[number].isReadyForRunAlone = false
            guard !self.queues[number].isBusy, self.queues[number].heldBack == 0,
                let entry = self.queues[number].entries.popFirst(where: \.isSuspect)
            else {
                self.makeReady(number)
                self.forgetIfUnused(number)
                continue
            }
            self.forget([entry], of: number)
            self.noteRoom(number)
            self.forgetIfUnused(number)
            return entry
        }
        return nil
    }

    /// Whether a message of the source has to come to its end before `entry` may start.
    mutating func holdsBack(_ entry: Entry) -> Bool {
        let number = self.number(of: entry.message)
        defer { self.forgetIfUnused(number) }
        return self.queues[number].heldBack > 0
            || self.queues[number].entries.first.map { $0.message.sequence < entry.message.sequence } ?? false
    }

    mutating func holdBack(_ message: Message) { self.queues[self.number(of: message)].heldBack += 1 }

    mutating func letGo(_ message: Message) {
        let number = self.number(of: message)
        self.queues[number].heldBack -= 1
        self.makeReady(number)
        self.noteRoom(number)
        self.forgetIfUnused(number)
    }

    // MARK: - Leaving

    /// Takes out the messages that `isMatch` says yes to.
    mutating func removeAll(where isMatch: (Entry) -> Bool) -> [Entry] {
        var removed: [Entry] = []
        for number in self.queues.indices {
            let entries = self.queues[number].entries.removeAll(where: isMatch)
            self.forget(entries, of: number)
            removed += entries
            // Another message may be the first now.
            self.makeReady(number)
            self.noteRoom(number)
            self.forgetIfUnused(number)
        }
        return removed
    }

    func weight(of message: Message) -> Int { self.scale.weight(of: message.bytes) }

    /// Entries were taken out of a source's queue.
    mutating func forget(_ entries: [Entry], of number: Int) {
        self.count -= entries.count
        for entry in entries { self.queues[number].weight -= self.weight(of: entry.message) }
    }

    func known(_ message: Message) -> Int? {
        self.numbers[Identity(installation: message.installation, source: message.source)]
    }

    mutating func number(of message: Message) -> Int {
        let identity = Identity(installation: message.installation, source: message.source)
        if let latest = self.latest, latest.identity == identity { return latest.number }
        let number: Int
        if let known = self.numbers[identity] {
            number = known
        } else {
            if let reused = self.free.popLast() {
                number = reused
                self.queues[number] = Queue(identity: identity)
            } else {
                number = self.queues.count
                self.queues.append(Queue(identity: identity))
            }
            self.numbers[identity] = number
        }
        self.latest = (identity, number)
        return number
    }

    private mutating func makeReady(_ number: Int) {
        // Field by field here and below: a copy of the whole would cost more than all the rest.
        guard !self.queues[number].isBusy, self.queues[number].heldBack == 0,
            let isSuspect = self.queues[number].entries.first?.isSuspect
        else { return }
        if isSuspect {
            guard !self.queues[number].isReadyForRunAlone else { return }
            self.queues[number].isReadyForRunAlone = true
            self.readyForRunAlone.append(number)
        } else {
            guard !self.queues[number].isReady else { return }
            self.queues[number].isReady = true
            self.ready.append(number)
        }
    }

    mutating func forgetIfUnused(_ number: Int) {
        guard self.queues[number].isUnused, !self.queues[number].isReady, !self.queues[number].isReadyForRunAlone,
            !self.queues[number].isWithRoom
        else { return }
        let identity = self.queues[number].identity
        // One that was forgotten before may have its successor under another number.
        guard self.numbers[identity] == number else { return }
        self.numbers[identity] = nil
        self.queues[number] = Queue(identity: identity)
        self.free.append(number)
        self.latest = nil
    }
}
