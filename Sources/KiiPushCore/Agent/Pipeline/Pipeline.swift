/// Writes the received messages and the handlers' answers in transactions. Then acknowledges messages, and hands the
/// next calls to workers.
///
/// Lives on the loop thread. The pipeline acknowledges nothing before the commit has returned, so a failed commit loses
/// no message. The pipeline repeats a failed commit every second.
package final class Pipeline: TurnDelegate {
    /// An acknowledgement that waits for the message's outcome.
    private struct Gate {
        let link: any MessageLink
        let ticket: UInt64
        /// A broker may repeat a message before its acknowledgement, and expects an acknowledgement for each delivery.
        var repetitions: [Gate] = []
    }

    enum CommitState { case written, underWay, failed, lost }

    package let store: any Store
    let loop: any Loop
    package let workers: Workers
    let clock: @Sendable () -> MonotonicInstant
    let observer: HubObserver
    package internal(set) var scheduler: Scheduler
    var attachments: [Int64: DeliveryAttachment] = [:]
    var turn = Turn()
    private var committed: [(turn: Turn, outcome: TurnOutcome)] = []
    private(set) var commitState = CommitState.written
    private(set) var commits = 0
    private var reports: StorageReports
    private var hasMadeRoom = false
    /// Changes that wait for a person's decision; see ``withholdChanges()``.
    var withheld: [Int64: [MessageChange]] = [:]
    /// Called at the end of the loop, to end waits for the store's answers.
    var questions: [ObjectIdentifier: () -> Void] = [:]
    var notes: [DeliveryNote] = []
    var posts: [AnswerBox.Post] = []
    var waits: [Wait] = []
    var pressure: BackPressure
    private(set) var retryAt: MonotonicInstant?
    private var links: [ObjectIdentifier: BrokerLink] = [:]
    private var gates = SequenceMap<Gate>()
    /// Only links with something to send: a gateway has thousands of silent ones.
    private var toFlush: [any MessageLink] = []
    /// The number of the latest connection, by installation. Absent while a link or a connection is being made, until
    /// CONNECT is sent.
    var connections: [Int64: Int64] = [:]
    private var timersFired: [BrokerLink] = []
    private var held = HeldLinks()
    let alarm: TurnAlarm
    private let upkeep: TurnAlarm
    private var isUpkeepDue = true
    var staff = Staffing()
    private var gathering = Gathering()
    var isReadingFailing = false
    var isLastTurn = false

    private static let retryInterval: Duration = .seconds(1)

    package init(
        store: any Store, on loop: any Loop, configuration: DeliveryConfiguration, limits: BackPressure.Limits,
        clock: @escaping @Sendable () -> MonotonicInstant, observer: HubObserver,
        wake: @escaping @Sendable () -> Void, threads: DeliveryThreads
    ) {
        self.store = store
        self.loop = loop
        self.workers = Workers(
            configuration: configuration, threads: threads, commitsWork: store.commitsWork, clock: clock, wake: wake)
        self.scheduler = Scheduler(configuration: configuration)
        self.pressure = BackPressure(limits: limits, running: { observer.running })
        self.clock = clock
        self.observer = observer
        self.alarm = TurnAlarm(loop)
        self.upkeep = TurnAlarm(loop)
        self.reports = StorageReports(loop)
    }

    func report(_ event: PushEvent) { self.observer.emit(event) }

    // MARK: - For links

    func received(_ arrival: consuming Arrival) {
        self.pressure.unstoredBytes += MemoryStore.memory(of: arrival.bytes)
        self.turn.arrivals.append(arrival)
    }

    func add(_ link: BrokerLink) { self.links[ObjectIdentifier(link)] = link }

    func remove(_ link: BrokerLink) {
        self.links[ObjectIdentifier(link)] = nil
        if link.isHeld { self.held.remove(link) }
    }

    /// Checks the link's deadlines only after this turn's reading: an answer that lies in the socket is not late.
    func timerFired(_ link: BrokerLink) { self.timersFired.append(link) }

    func hold(_ link: BrokerLink) { self.held.add(link) }

    package func clocksJumped(_ jump: ClockJump) {
        if jump.calendarMoved != .zero { self.store.calendarMoved(by: jump.calendarMoved) }
        guard jump.slept > .zero else { return }
        for link in self.links.values { link.wokeUp() }
        self.store.machineSlept(jump.slept)
        self.scheduler.machineSlept(at: self.clock())
    }

    /// Whether the received messages exceed a limit, so that this turn should read no more.
    package var isSaturated: Bool { !self.pressure.isReadingPaused && self.pressure.isOverLimit(self.store) }

    var hasGates: Bool { self.gates.count > 0 }
    package var isReadingPaused: Bool { self.pressure.isReadingPaused }

    /// A broker writes one message at a time, and each would wake the loop. So messages in quick succession wait a
    /// moment for each other. A message that comes alone does not wait.
    package var pauseBeforeNextTurn: Duration { self.gathering.pause }

    // MARK: - The turn

    package func commit() {
        let timersFired = self.timersFired
        self.timersFired.removeAll(keepingCapacity: true)
        for link in timersFired { link.checkClock() }
        self.gathering.received(self.turn.arrivals.count, at: self.loop.now)
        let now = self.clock()
        self.collectAnswers()
        self.checkDeadlines(at: now)
        if self.isLastTurn { self.scheduler.stop() }
        self.scheduler.timePassed(at: now)
        self.settle(at: now)
        self.withholdChanges()
        if let reason = self.reports.silence(at: self.loop.now) { self.report(.trouble(.storing, reason: reason)) }
        defer { self.tellNotices() }
        guard
            !self.turn.isEmpty || self.store.hasMoreToWrite || self.isUpkeepDue || self.upkeep.isDue
                || self.retryAt != nil
        else {
            // An agent may have started or stopped, which changes the bytes that count.
            if self.pressure.isReadingPaused || self.pressure.isOverLimit(self.store) { self.applyBackPressure() }
            return
        }
        if self.isLastTurn || self.retryAt.map({ self.loop.now >= $0 }) ?? true { self.commitTurn() }
        self.applyBackPressure()
    }

    private func commitTurn() {
        guard !self.isCommitUnderWay else { return }
        self.hasMadeRoom = false
        if self.isLastTurn { self.declineClaims { _ in true } }
        // The store may write its session records although the disk has no room for messages.
        if self.retryAt != nil, self.store.hasMoreToWrite, !self.isLastTurn { self.commit(Turn()) }
        guard self.commitState != .underWay else { return }
        repeat {
            self.commitPart()
        } while self.commitState == .written && (!self.turn.isEmpty || self.store.hasMoreToWrite)
    }

    private func commitPart() {
        var part = self.turn.takePart(of: self.store.commitBytes)
        self.admit(&part.arrivals)
        self.commit(part)
    }

    private func commit(_ part: Turn) {
        self.commitState = .underWay
        self.held.commitBegins()
        self.store.commit(part) { [part] in self.partEnded(part, $0) }
        if self.commitState == .underWay { self.reports.waits(since: self.loop.now) }
    }

    private func partEnded(_ part: Turn, _ result: Result<TurnOutcome, InboxError>) {
        self.reports.answered()
        switch result {
        case .success(let outcome):
            self.committed.append((part, outcome))
            self.commitState = .written
            if !part.isEmpty { self.commits += 1 }
            self.held.commitEnded(isWritten: true)
            self.countUnstored()
            guard self.turn.isEmpty || self.retryAt == nil, self.reports.recovers() else { return }
            self.retryAt = nil
            self.scheduler.isStoreFailing = false
            self.report(.recovered(.storing))
        case .failure(let error):
            self.takeBack(part)
            self.held.commitEnded(isWritten: false)
            if error.kind == .full, !self.hasMadeRoom, self.makeRoom() {
                self.hasMadeRoom = true
                self.commitState = .written
            } else {
                self.commitState = error.isFinal ? .lost : .failed
                // On a full disk, the store may still write answers, which free room.
                let isOfArrivals = error.kind == .full && !part.arrivals.isEmpty && part.changes.isEmpty
                self.scheduler.isStoreFailing = !isOfArrivals
                self.commitFailed(error)
            }
        }
    }

    private func countUnstored() {
        self.pressure.unstoredBytes = self.turn.arrivals.reduce(0) { $0 + MemoryStore.memory(of: $1.bytes) }
    }

    private func admit(_ arrivals: inout [Arrival]) {
        for index in arrivals.indices {
            guard let source = arrivals[index].source else { continue }
            arrivals[index].isInHand = self.scheduler.admit(source, bytes: arrivals[index].bytes)
        }
    }

    private func takeBack(_ part: Turn) {
        for arrival in part.arrivals {
            // By `arrival.link`, since `links` lacks the links of ended connections.
            arrival.link.forgetAbsorptions()
            guard arrival.isInHand, let source = arrival.source else { continue }
            self.scheduler.released(source, bytes: arrival.bytes)
        }
        self.turn.putBack(part)
    }

    private func makeRoom() -> Bool {
        guard let removed = self.store.makeRoom() else { return false }
        if removed > 0 {
            let reason = "the disk was full: the records of \(removed) handled messages made room"
            self.report(.notice(.historyCut, reason: reason, messages: removed))
        }
        return true
    }

    private func commitFailed(_ error: InboxError) {
        self.countUnstored()
        if self.reports.fails(error.description) { self.report(.trouble(.storing, reason: error.description)) }
        self.retryAt = self.loop.now + Pipeline.retryInterval
        // Claims are withdrawn, since their agents may stop before the store works again.
        self.declineClaims { _ in true }
    }

    /// Withdraws claims that nobody will use. After a crash, the next process would suspect a claimed message as the
    /// cause.
    func declineClaims(where isDeclined: (StoreClaim) -> Bool) {
        let declined = self.turn.claims.filter(isDeclined)
        guard !declined.isEmpty else { return }
        self.turn.claims.removeAll(where: isDeclined)
        for claim in declined { self.scheduler.declined(claim) }
    }

    package func afterCommit() {
        self.followCommitted()
        self.flushLinks()
        for link in self.held.take(hasMore: self.store.hasMoreToWrite) { link.resume() }
        let now = self.clock()
        self.settle(at: now)
        self.finishTurn(at: now)
    }

    func followCommitted() {
        let committed = self.committed
        self.committed.removeAll(keepingCapacity: true)
        for (turn, outcome) in committed { self.follow(turn, outcome) }
    }

    private func follow(_ turn: Turn, _ outcome: TurnOutcome) {
        self.plan(upkeepIn: outcome.upkeepDue)
        for answer in outcome.answers { self.reportReading(answer) }
        self.pressure.deadLetters.removed(outcome.removedDeadLetters, at: self.loop.now, report: self.report)
        self.turn.changes.insert(contentsOf: outcome.postponed(of: turn.changes), at: 0)
        self.scheduler.committed(turn.changes, refusals: outcome.refusals)
        let now = self.loop.clocks.calendar
        let arrivals = turn.arrivals.span
        for index in arrivals.indices { self.follow(arrivals[index], outcome.arrivals[index], at: now) }
        for sequence in outcome.finished where self.hasGates { self.openGates(of: sequence) }
        for row in outcome.appeared {
            self.scheduler.appeared(row.sequence, source: row.source, installation: row.installation, goesFirst: true)
        }
        for index in outcome.answers.indices { self.scheduler.claimed(turn.claims[index], outcome.answers[index]) }
        if outcome.isMoved { self.scheduler.readAgain() }
    }

    private func follow(_ arrival: Arrival, _ stored: StoredArrival, at now: Timestamp) {
        switch stored {
        case .new(let sequence):
            let isFinal: Bool
            switch arrival.content {
            case .message, .command:
                isFinal = self.store.isDurable
                guard arrival.isInHand, let source = arrival.source else { break }
                self.scheduler.stored(
                    QueuedMessage(
                        sequence: sequence, source: source, content: arrival.content, bytes: arrival.bytes,
                        receivedAt: arrival.receivedAt))
            case .refused(let reason):
                isFinal = true
                self.scheduler.refused(sequence, installation: arrival.link.installation, reason)
            }
            arrival.link.stored(sequence, arrival)
            // A message of QoS 0 gets no acknowledgement.
            guard arrival.message.ticket != nil else { return }
            self.openGate(of: arrival, sequence: sequence, isFinal: isFinal)
            guard self.store.isDurable, arrival.link.isCurrent(arrival) else { return }
            self.store.acknowledged(sequence, at: now)
        case .redelivered(let sequence, let isFinal, let isInHand):
            arrival.link.absorbed(sequence, arrival)
            if arrival.isInHand, let source = arrival.source { self.scheduler.released(source, bytes: arrival.bytes) }
            if isInHand { self.scheduler.joined(sequence, installation: arrival.link.installation) }
            self.openGate(of: arrival, sequence: sequence, isFinal: isFinal)
        }
    }

    private func plan(upkeepIn pause: Duration?) {
        self.isUpkeepDue = false
        if self.upkeep.isDue { self.upkeep.reset() }
        if let pause { self.upkeep.set(for: self.loop.now + pause) }
    }

    // MARK: - Acknowledging

    private func openGate(of arrival: Arrival, sequence: Int64, isFinal: Bool) {
        guard let ticket = arrival.message.ticket else { return }
        if self.store.isDurable {
            // The whole turn is stored, so the last acknowledgement covers all before it.
            arrival.link.acknowledgeThrough(ticket)
        } else if isFinal {
            arrival.link.acknowledge(ticket)
        } else {
            let gate = Gate(link: arrival.link, ticket: ticket)
            if var first = self.gates[sequence] {
                first.repetitions.append(gate)
                self.gates[sequence] = first
            } else {
                self.gates[sequence] = gate
            }
            return
        }
        self.queueFlush(arrival.link)
    }

    private func openGates(of sequence: Int64) {
        guard let first = self.gates[sequence] else { return }
        self.gates[sequence] = nil
        self.open(first)
        for gate in first.repetitions { self.open(gate) }
    }

    private func open(_ gate: Gate) {
        gate.link.acknowledge(gate.ticket)
        self.queueFlush(gate.link)
    }

    private func queueFlush(_ link: any MessageLink) {
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

    private func applyBackPressure() {
        guard self.pressure.isChanged(self.store, report: self.report) else { return }
        for link in self.links.values { link.setReadingPaused(self.pressure.isReadingPaused) }
    }

    // MARK: - The end

    package func loopEnds() {
        self.isLastTurn = true
        // Completes the commit that is under way, so that the last turn can commit.
        self.store.settle()
        self.followCommitted()
    }

    package func loopEnded() {
        self.store.close()
        self.release()
    }

    /// Releases the links: they retain the pipeline, which keeps the inbox open.
    package func release() {
        self.turn = Turn()
        self.withheld = [:]
        self.committed = []
        self.gates = SequenceMap()
        self.links = [:]
        self.timersFired = []
        self.held = HeldLinks()
        self.attachments = [:]
        self.endWaits()
    }
}
