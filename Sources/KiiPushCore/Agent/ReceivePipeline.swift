/// The middle of every turn: what was received is stored, then acknowledged, then handed to delivery.
///
/// Lives on the loop thread. Everything that a turn received, on however many connections, and every verdict handed in
/// since the last one share one transaction. Only what it has returned for is acknowledged, so a failed commit costs
/// time and never a message: the work is kept and tried again.
package final class ReceivePipeline: TurnDelegate {
    /// An acknowledgement that waits for a message's outcome.
    private struct Gate {
        let link: BrokerLink
        let ticket: UInt64
    }

    /// How much is kept before reading from the network stops. What is kept in memory counts as what it takes there:
    /// ``memory(of:)``.
    struct Limits: Sendable {
        /// Received and not stored: in one turn, or because the store cannot be written.
        var unstoredBytes: Int64
        /// Waiting for a handler, received in this turn or stored.
        var pendingBytes: Int64

        /// For a store on a disk.
        static let file = Limits(unstoredBytes: 8 << 20, pendingBytes: 1 << 30)
        /// For a store in memory, where nothing that waits is stored.
        static let memory = Limits(unstoredBytes: 8 << 20, pendingBytes: 8 << 20)
    }

    let store: any MessageStore
    let loop: any Loop
    private let mailbox: DeliveryMailbox
    private let limits: Limits
    private let delivery: DeliveryRunner
    /// The installations of agents that run.
    private let running: () -> Set<Int64>
    private let report: (PushEvent) -> Void
    private var work = TurnWork()
    /// How many messages the last turn brought: the next one is likely to bring as many.
    private var lastArrivals = 0
    /// What this turn has committed, in parts where the store has little room.
    private var committed: [(work: TurnWork, outcome: TurnOutcome)] = []
    private var unstoredBytes: Int64 = 0
    private var retryAt: MonotonicInstant?
    private var links: [ObjectIdentifier: BrokerLink] = [:]
    /// By row. A broker may send a message again before it was acknowledged, and each time has an acknowledgement.
    private var gates: [Int64: [Gate]] = [:]
    /// Those that this turn has given something to send: a gateway has thousands that are silent.
    private var toFlush: [BrokerLink] = []
    private var timersFired: [BrokerLink] = []
    /// When the store wants to be looked after. Set until that was done.
    private var upkeep: (timer: TimerID, deadline: MonotonicInstant)?
    private var isUpkeepDue = true
    private var isReadingFailing = false
    private var isLastTurn = false
    package private(set) var isReadingPaused = false
    private var deadLetters = DeadLetterWatch()
    /// What waits for agents that do not run, as of the last look, which holds as long as these two do.
    private var idle: (running: Set<Int64>, revision: Int, bytes: Int64)?

    /// What stands around one message in the queues, maps and objects of its whole way to its handler. With the smallest
    /// messages it is half of this while they wait, and about as much again once they are decoded (measured).
    private static let messageOverhead = 1024

    /// What a message of so many bytes takes in memory until it is handled.
    static func memory(of bytes: Int) -> Int64 { Int64(bytes + Self.messageOverhead) }

    /// How long a store that failed is left alone.
    private static let retryInterval: Duration = .seconds(1)

    init(
        store: any MessageStore,
        loop: any Loop,
        mailbox: DeliveryMailbox,
        limits: Limits,
        delivery: DeliveryRunner,
        running: @escaping () -> Set<Int64>,
        report: @escaping (PushEvent) -> Void
    ) {
        self.store = store
        self.loop = loop
        self.mailbox = mailbox
        self.limits = limits
        self.delivery = delivery
        self.running = running
        self.report = report
    }

    /// Takes a message into this turn's transaction.
    func received(_ arrival: Arrival) {
        self.unstoredBytes += Self.memory(of: arrival.message.bytes)
        if self.work.arrivals.isEmpty { self.work.arrivals.reserveCapacity(self.lastArrivals) }
        self.work.arrivals.append(arrival)
    }

    func add(_ link: BrokerLink) { self.links[ObjectIdentifier(link)] = link }

    func remove(_ link: BrokerLink) { self.links[ObjectIdentifier(link)] = nil }

    /// Has the link's clock looked at when everything that this turn received has been read, so that an answer which
    /// lies in the socket does not count as missing.
    func timerFired(_ link: BrokerLink) { self.timersFired.append(link) }

    /// The machine slept or its calendar was set: connections are asked whether they still stand, retries keep their
    /// delays.
    package func clocksJumped(_ jump: ClockJump) {
        if jump.calendarMoved != .zero { self.store.calendarMoved(by: jump.calendarMoved) }
        guard jump.slept > .zero else { return }
        for link in self.links.values { link.wokeUp() }
        self.delivery.machineSlept(jump.slept)
    }

    /// Whether this turn has brought as much as may be kept; what else has come is read when that is stored. While reading
    /// is paused nothing comes that could be put off.
    package var isSated: Bool { !self.isReadingPaused && self.isOverLimit }

    package func commit() {
        let timersFired = self.timersFired
        self.timersFired.removeAll(keepingCapacity: true)
        for link in timersFired { link.lookAtClock() }
        self.work.orders += self.mailbox.take()
        defer { self.tellNotices() }
        if self.isLastTurn { self.declineLoads() }
        guard !self.work.isEmpty || self.store.hasMoreToWrite || self.isUpkeepDue else {
            // An agent may have begun or ended, with what waits for it.
            if self.isReadingPaused || self.isOverLimit { self.applyBackPressure() }
            return
        }
        if self.isLastTurn || self.retryAt.map({ self.loop.now >= $0 }) ?? true { self.commitWork() }
        self.applyBackPressure()
    }

    /// Tells what became of damaged files as soon as an agent runs that can be told.
    private func tellNotices() {
        let notices = self.store.notices
        guard !notices.isEmpty, !self.running().isEmpty else { return }
        for event in notices { self.report(event) }
        self.store.removeNotices()
    }

    /// What could not be written a moment ago is tried once more.
    package func loopEnds() { self.isLastTurn = true }

    package func loopEnded() {
        self.store.close()
        self.release()
    }

    /// Lets go of the links, which hold the pipeline: without this the inbox would stay open whenever a message of theirs
    /// could not be stored, or waits for its outcome in memory.
    package func release() {
        self.work = TurnWork()
        self.committed = []
        self.gates = [:]
        self.links = [:]
        self.timersFired = []
    }

    /// Reads nothing back that nobody takes any more: what is marked as in hand would look, to the next process, as if
    /// this one had ended of it.
    private func declineLoads() {
        var declined: [@Sendable (DeliveryPage) -> Void] = []
        self.work.orders.removeAll { order in
            guard case .load(_, let deliver) = order else { return false }
            declined.append(deliver)
            return true
        }
        for deliver in declined { deliver(DeliveryPage(messages: [], isComplete: false, isFailure: true)) }
    }

    private func commitWork() {
        self.lastArrivals = min(self.work.arrivals.count, 4096)
        var (hasMadeRoom, isWritten) = (false, false)
        while !isWritten || !self.work.isEmpty {
            var part = self.work.takePart(of: self.store.commitBytes)
            self.reserveRoom(for: &part.arrivals)
            do throws(InboxError) {
                let outcome = try self.store.commit(part)
                self.plan(upkeepIn: outcome.upkeepDue)
                self.report(loads: outcome.loads)
                self.deadLetters.removed(outcome.removedDeadLetters, at: self.loop.now, report: self.report)
                self.committed.append((part, outcome))
                isWritten = true
            } catch {
                // Not those of `links`: a connection that brought something may be gone.
                for arrival in part.arrivals { arrival.link.forgetAbsorptions() }
                self.delivery.release(
                    part.arrivals.reduce(0) { $0 + ($1.isInHand ? self.delivery.weight(of: $1.message.bytes) : 0) })
                self.work.putBack(part)
                guard error.kind == .full, !hasMadeRoom, self.makeRoom() else { return self.commitFailed(error) }
                hasMadeRoom = true
            }
        }
        self.unstoredBytes = 0
        if self.retryAt != nil {
            self.retryAt = nil
            self.report(.storageRecovered)
        }
    }

    private func makeRoom() -> Bool {
        guard let removed = self.store.makeRoom() else { return false }
        if removed > 0 { self.report(.historyCut(messages: removed)) }
        return true
    }

    private func commitFailed(_ error: InboxError) {
        self.unstoredBytes = self.work.arrivals.reduce(0) { $0 + Self.memory(of: $1.message.bytes) }
        if self.retryAt == nil { self.report(.storageFailed(reason: error.description)) }
        let retryAt = self.loop.now + ReceivePipeline.retryInterval
        self.retryAt = retryAt
        // The timer's only task is to make the loop take a turn, which tries again.
        self.loop.schedule(at: retryAt) {}
    }

    /// Has the store looked after also when nothing else happens: at once, in the next turn, while there is more to do.
    private func plan(upkeepIn pause: Duration?) {
        self.isUpkeepDue = false
        guard let pause else { return }
        let deadline = self.loop.now + pause
        if let upkeep {
            guard deadline < upkeep.deadline else { return }
            self.loop.cancel(upkeep.timer)
        }
        let timer = self.loop.schedule(at: deadline) { [weak self] in
            self?.upkeep = nil
            self?.isUpkeepDue = true
        }
        self.upkeep = (timer, deadline)
    }

    private func report(loads: [Result<Void, InboxError>]) {
        for load in loads {
            switch load {
            case .failure(let error) where !self.isReadingFailing:
                self.isReadingFailing = true
                self.report(.readingFailed(reason: error.description))
            case .success where self.isReadingFailing:
                self.isReadingFailing = false
                self.report(.readingRecovered)
            case .success, .failure: break
            }
        }
    }

    package func afterCommit() {
        let committed = self.committed
        self.committed.removeAll(keepingCapacity: true)
        for (work, outcome) in committed { self.follow(work, outcome) }
    }

    /// Acknowledges what was committed, and hands it to delivery.
    private func follow(_ work: TurnWork, _ outcome: TurnOutcome) {
        var unused = 0
        var hasWithheld = false
        let now = self.loop.clocks.calendar
        var repeated: [(sequence: Int64, installation: Int64)] = []
        for index in outcome.arrivals.indices {
            if !work.arrivals[index].isInHand { hasWithheld = true }
            // Nothing is owed for a message of QoS 0, and none like it comes again.
            if case .new = outcome.arrivals[index], work.arrivals[index].message.ticket == nil { continue }
            let arrival = work.arrivals[index]
            switch outcome.arrivals[index] {
            case .new(let sequence):
                arrival.link.stored(sequence, arrival)
                self.openGate(of: arrival, sequence: sequence, isFinal: self.store.isDurable)
                if self.store.isDurable, arrival.link.stillCarries(arrival) {
                    self.store.acknowledged(sequence, at: now)
                }
            case .redelivered(let sequence, let isFinal):
                arrival.link.absorbed(sequence, arrival)
                repeated.append((sequence, arrival.link.installation))
                if arrival.isInHand { unused += self.delivery.weight(of: arrival.message.bytes) }
                self.openGate(of: arrival, sequence: sequence, isFinal: isFinal)
            }
        }
        for sequence in outcome.finished where !self.gates.isEmpty {
            for gate in self.gates.removeValue(forKey: sequence) ?? [] {
                gate.link.acknowledge(gate.ticket)
                self.queueFlush(gate.link)
            }
        }
        self.flushLinks()
        if !repeated.isEmpty { self.delivery.repeated(repeated, releasing: unused) }
        self.delivery.deliver(outcome.messages)
        if hasWithheld { self.delivery.withheldIsStored() }
        for reply in outcome.replies { reply() }
    }

    /// Asks delivery how much of this turn it has room for; the rest is stored as waiting and read back later.
    private func reserveRoom(for arrivals: inout [Arrival]) {
        var start = 0
        // One installation's messages of a turn mostly stand in a row.
        while start < arrivals.count {
            let installation = arrivals[start].link.installation
            var end = start + 1
            while end < arrivals.count, arrivals[end].link.installation == installation { end += 1 }
            let granted = self.delivery.reserve(end - start, installation: installation) { index in
                arrivals[start + index].message.bytes
            }
            for index in start..<end { arrivals[index].isInHand = index - start < granted }
            start = end
        }
    }

    private func openGate(of arrival: Arrival, sequence: Int64, isFinal: Bool) {
        guard let ticket = arrival.message.ticket else { return }
        if self.store.isDurable {
            // All that the turn received is stored, so everything up to the last one may go at once.
            arrival.link.acknowledgeThrough(ticket)
        } else if isFinal {
            arrival.link.acknowledge(ticket)
        } else {
            self.gates[sequence, default: []].append(Gate(link: arrival.link, ticket: ticket))
            return
        }
        self.queueFlush(arrival.link)
    }

    private func queueFlush(_ link: BrokerLink) {
        guard !link.isQueuedForFlush else { return }
        link.isQueuedForFlush = true
        self.toFlush.append(link)
    }

    private func flushLinks() {
        for link in self.toFlush {
            link.isQueuedForFlush = false
            link.flush()
        }
        self.toFlush.removeAll(keepingCapacity: true)
    }

    private var pendingLimit: Int64 { min(self.limits.pendingBytes, self.store.pendingShare) }

    /// Bytes that wait for the handlers of agents that run. What waits for others must not keep these from receiving.
    private var pendingBytes: Int64 {
        let all = self.store.pendingBytes
        guard all > self.pendingLimit / 10 * 9 else { return all }
        let (running, revision) = (self.running(), self.store.backlogRevision)
        if let idle, idle.running == running, idle.revision == revision { return all - idle.bytes }
        // What cannot be read now counts as waiting for somebody, and is read again in the next turn.
        guard let bytes = try? self.store.pendingBytes(besides: running) else { return all }
        self.idle = (running, revision, bytes)
        return all - bytes
    }

    private var isOverLimit: Bool {
        // In memory a message takes as much before it is stored as afterwards.
        let pending = self.pendingBytes + (self.store.isDurable ? 0 : self.unstoredBytes)
        return self.unstoredBytes > self.limits.unstoredBytes || pending > self.pendingLimit
    }

    private func applyBackPressure() {
        let isStopped = self.deadLetters.stopReading(
            self.store.deadLetterStock, of: self.running, report: self.report)
        if self.isReadingPaused {
            // Reading goes on only well below the limit, so that it does not stop and start with every message.
            guard !isStopped, self.unstoredBytes == 0, self.pendingBytes <= self.pendingLimit / 10 * 9 else { return }
            self.isReadingPaused = false
        } else {
            guard isStopped || self.isOverLimit else { return }
            self.isReadingPaused = true
        }
        for link in self.links.values { link.setReadingPaused(self.isReadingPaused) }
    }
}
