#if Postgres
package import KiiPushCore

/// The store of a fleet's gateway: messages are rows of a PostgreSQL database. A committed message is in the database's
/// log, on its disk and on its synchronous standbys, if it has any.
///
/// For use on the loop's thread, which only ``settle()`` and ``close()`` block. A ``Turn`` is one transaction, whose
/// answer arrives later. If the connection breaks, the store asks the database whether the turn was committed.
package final class PostgresStore: Store {
    let configuration: PostgresConfiguration
    let loop: EventLoop
    var gateway: PostgresSession.Gateway
    var state: ConnectionState
    lazy var weakSelf = LoopIsolated(confining: WeakReference(self), to: self.loop)
    var underWay: PostgresTurn?
    private(set) var turnNumber: Int64
    var numbers = MessageNumbers()
    var dead: InboxCounts.Tally
    var installations = KnownInstallations()

    /// As ``PostgresTurn/proofs``, for the next turn.
    private var proofs: [Int64: Int64] = [:]

    var questions = Fifo<Question>()
    var isAsking = false
    var acknowledgements = AcknowledgementTimes()
    package internal(set) var backlogRevision = 0
    var whenClosed: (() -> Void)?

    /// The revisions of this gateway's shards, by shard, as of the last renewal. A released shard leaves at once.
    var shards: [Int64: Int64] = [:]

    var clock: DatabaseClock

    /// The dead letters that the last removal left; none before the first removal.
    private var trimmed = InboxCounts.Tally(rows: 0, bytes: 0)

    private var upkeepAt: MonotonicInstant
    private var prunedPart: Int64 = 0

    /// Whether the next turn continues to remove old rows.
    private var isCatchingUp = false

    /// Whether the store has connected again since the last outcome. Other processes may have changed rows meanwhile, so
    /// the next outcome makes the scheduler read the sources again.
    var isMoved = false

    private static let upkeepInterval: Duration = .seconds(10)

    /// The longest time that ``settle()`` waits for answers.
    private static let lastWait: Duration = .seconds(3)

    package init(_ session: PostgresSession, _ configuration: PostgresConfiguration, on loop: EventLoop)
        throws(InboxError)
    {
        (self.configuration, self.loop) = (configuration, loop)
        (self.gateway, self.turnNumber) = (session.gateway, session.lastTurn)
        (self.dead, self.clock) = (session.dead, session.clock)
        self.upkeepAt = configuration.clocks.monotonic()
        self.state = .ended
        self.state = .connected(try self.connection(of: session))
    }

    package var isDurable: Bool { true }
    package var commitsWork: Bool { true }
    package var hasMoreToWrite: Bool { !self.proofs.isEmpty }
    package var pendingBytes: Int64 { self.installations.pendingBytes }
    package var deadLetterStock: DeadLetterStock? {
        DeadLetterStock(self.dead, limit: self.configuration.keepsDead)
    }

    package func pendingBytes(besides installations: Set<Int64>) -> Int64 {
        self.installations.pendingBytes(besides: installations)
    }

    package func proven(installation: Int64, through sequence: Int64) { self.proofs[installation] = sequence }

    /// Rows of the turn under way count as well: the link does not know their numbers yet.
    package func doubt(installation: Int64, through sequence: Int64) {
        self.proofs[installation] = self.underWay == nil ? sequence : max(sequence, self.numbers.last)
    }

    package func acknowledged(_ sequence: Int64, at now: Timestamp) {
        self.acknowledgements.note(sequence, at: now + .milliseconds(self.clock.lead))
    }

    package func settle() {
        self.connection?.finish(within: PostgresStore.lastWait)
    }

    package func close() {
        self.settle()
        let connection = self.connection
        self.state = .ended
        connection?.abandon()
        // Breaks a reference cycle through the turn's completion.
        self.underWay = nil
        self.whenClosed?()
    }

    /// The machine's clocks, with the database's calendar.
    var clocks: Clocks {
        let (clocks, lead) = (self.configuration.clocks, self.clock.lead * 1_000_000)
        return Clocks(
            monotonic: clocks.monotonic, calendarNanoseconds: { clocks.calendarNanoseconds() + lead })
    }

    // MARK: - Turns

    package func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>) {
        let now = self.configuration.clocks.monotonic()
        let part = now >= self.upkeepAt ? self.prunedPart : nil
        guard !turn.isEmpty || part != nil || self.hasMoreToWrite else {
            var outcome = TurnOutcome()
            outcome.upkeepDue = self.upkeepAt - now
            return completion(.success(outcome))
        }
        let proofs = self.proofs
        self.proofs = [:]
        let mayTrim = part != nil && (!self.isCatchingUp || self.hasManyMoreDead)
        self.send(
            PostgresTurn(
                turn, proofs: proofs, pruning: part, trims: mayTrim && self.hasTooManyDead, at: now,
                isKnown: self.installations.knows, completion: completion))
    }

    private func send(_ turn: consuming PostgresTurn) {
        guard let connection else { return self.fail(turn, self.reasonAway) }
        self.underWay = turn
        guard turn.arrivalCount <= self.numbers.left else {
            return connection.send([(PostgresStatements.takeNumbers, .init())]) { self.tookNumbers($0) }
        }
        self.turnNumber += 1
        let steps = turn.steps(as: self.turnNumber, of: self, &self.numbers)
        self.underWay = turn
        connection.send(steps) { self.answered($0) }
    }

    private func tookNumbers(_ answer: PostgresConnection.Answer) {
        guard let turn = self.underWay.take() else { return }
        switch answer.result {
        case .success(let rows):
            self.numbers.add(block: rows[0].integer(0, 0))
            self.send(turn)
        case .failure(let error): self.fail(turn, error)
        }
    }

    private func answered(_ answer: PostgresConnection.Answer) {
        guard var turn = self.underWay.take() else { return }
        switch answer {
        case .rows(let rows):
            // A statement of its own: `succeed` needs the turn as the answer has left it.
            let outcome = turn.outcome(rows, of: self)
            self.succeed(turn, outcome)
        case .refused(let error, let places, let step): self.refused(turn, error, places: places, step: step)
        // The result is known after the reconnection: ``resume(_:)``.
        case .unknown: self.underWay = turn
        }
    }

    /// Sends a refused turn again, after a correction. A turn with nothing to correct fails.
    private func refused(_ turn: consuming PostgresTurn, _ error: InboxError, places: [Int], step: Int) {
        // A handler's statement can raise any SQLSTATE, even this schema's, so the refused step decides first.
        if turn.dropWork(step, error, places: places, at: self.configuration.clocks.monotonic()) {
            return self.send(turn)
        }
        // A redelivery that differs from its stored row is a new message.
        if error.sqlState == PostgresStatements.rowMismatch {
            turn.reject(repetitions: places)
            return self.send(turn)
        }
        // The results belong to installations that another gateway now serves, so the turn goes without these results.
        if error.sqlState == PostgresStatements.ofAnother {
            let others = Set(places.map { Int64($0) })
            self.forget(others)
            if turn.dropChanges(of: others) { return self.send(turn) }
            return self.giveUp(turn, InboxError(.fenced, step: error.step, sqlState: error.sqlState))
        }
        if error.isFinal { self.giveUp(turn, error) } else { self.fail(turn, error) }
    }

    func succeed(_ turn: PostgresTurn, _ outcome: consuming TurnOutcome) {
        self.gateway.turn = self.turnNumber
        self.gateway.messages += Int64(turn.additionCount)
        if let block = turn.block { self.numbers.add(block: block) }
        let now = self.configuration.clocks.monotonic()
        if let part = turn.pruned {
            self.isCatchingUp = turn.hasMoreToPrune
            if !turn.hasMoreToPrune { self.plan(upkeepAfter: part) }
        }
        if turn.trims { self.trimmed = self.dead }
        if turn.refuses, self.hasTooManyDead, self.hasManyMoreDead { self.upkeepAt = now }
        outcome.upkeepDue = self.upkeepAt - now
        if self.isMoved { outcome.isMoved = true }
        self.isMoved = false
        turn.completion(.success(outcome))
    }

    private func plan(upkeepAfter part: Int64) {
        self.prunedPart = (part + 1) % PostgresStatements.pruningParts
        self.upkeepAt = self.configuration.clocks.monotonic() + PostgresStore.upkeepInterval
    }

    /// Ends the store's use of the database: `error` is final, so unlike ``broke(_:)`` this does not connect again.
    private func giveUp(_ turn: PostgresTurn, _ error: InboxError) {
        let connection = self.connection
        self.state = .away(error)
        connection?.abandon()
        self.fail(turn, error)
    }

    func fail(_ turn: PostgresTurn, _ error: InboxError) {
        // The gateway may have lost some installations meanwhile.
        self.proofs.merge(turn.proofs.filter { self.installations.knows($0.key) }) { newer, _ in newer }
        if let part = turn.pruned { self.plan(upkeepAfter: part) }
        turn.completion(.failure(error))
    }

    private var hasTooManyDead: Bool { self.dead.isMore(than: self.configuration.keepsDead.half) }

    /// Whether a sixteenth of the limit was added since the last removal. A removal is slow: it reads all dead letters.
    private var hasManyMoreDead: Bool {
        let limit = self.configuration.keepsDead
        return self.dead.rows >= self.trimmed.rows + max(1, limit.rows / 16)
            || self.dead.bytes >= self.trimmed.bytes + limit.bytes / 16
    }

    // MARK: - Asking

    func ask(
        _ steps: [PostgresConnection.Step], completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        guard let connection else { return completion(.failure(self.reasonAway)) }
        connection.send(steps) { completion($0.result) }
    }

    /// Writes if this process is still the gateway. The answer has the rows of `steps` only.
    func write(
        _ steps: [PostgresConnection.Step], of installations: [Int64] = [],
        completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        let first = self.beginning(installations: installations, messages: 0, repetitions: 0, number: nil)
        self.ask([first] + steps) { answer in completion(answer.map { Array($0.dropFirst()) }) }
    }

    func beginning(
        installations: [Int64], messages: Int, repetitions: Int, number: Int64?
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(self.gateway)
        parameters.add(number)
        parameters.add(installations)
        parameters.add(Int64(messages))
        parameters.add(Int64(repetitions))
        return (PostgresStatements.beginTurn, parameters)
    }

    func unprovenAfter(_ installation: Int64) -> Int64? {
        self.proofs[installation] ?? self.underWay?.proofs[installation]
    }

    // MARK: - Lost shards

    /// Forgets installations that this gateway no longer serves. Later results for them are not written.
    func forget(_ installations: Set<Int64>) {
        self.installations.forget(installations)
        for key in installations { self.proofs[key] = nil }
    }

    // MARK: - Counting

    func count(_ arrival: Arrival) {
        self.count(arrival.rowBytes, of: arrival.link.installation, from: nil, to: arrival.rowState)
    }

    func count(_ bytes: Int64, of installation: Int64, from former: RowState?, to state: RowState?) {
        if former != state {
            if former == .dead { self.dead.add(-bytes, rows: -1) }
            if state == .dead { self.dead.add(bytes) }
        }
        self.installations.moved(bytes, of: installation, from: former, to: state)
    }
}
#endif
