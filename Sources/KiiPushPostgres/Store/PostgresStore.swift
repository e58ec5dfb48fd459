#if Postgres
package import KiiPushCore

/// The store that gateways share: messages are rows of a PostgreSQL. What its commit has returned for is in the
/// database's log, on its disk and, where it has them, on its synchronous standbys.
///
/// Lives on the loop's thread. Nothing on it waits: a turn is one transaction, sent in one piece and answered in a later
/// turn of the loop. After a connection that broke, a turn without an answer is neither written again nor given up before
/// the database has said what became of it.
package final class PostgresStore: Store {
    private enum Line {
        case connected(PostgresConnection)
        /// Since the last try to connect has failed, for this reason.
        case away(InboxError)
        case ended
    }

    /// A turn that was sent.
    private struct TurnUnderWay {
        var work: PostgresTurn
        let completion: StoreCompletion<TurnOutcome>
    }

    /// The claim of a thread that connects to the store, which must not keep it.
    private final class Place {
        weak var store: PostgresStore?

        init(_ store: PostgresStore) { self.store = store }
    }

    let configuration: PostgresConfiguration
    let loop: EventLoop
    private(set) var gateway: PostgresSession.Gateway
    private var line: Line
    private lazy var place = LoopIsolated(confining: Place(self), to: self.loop)
    private var underWay: TurnUnderWay?
    private(set) var turnNumber: Int64
    var numbers = MessageNumbers()
    /// How many dead letters there are, as far as this gateway has heard.
    var dead: InboxCounts.Tally
    var installations = KnownInstallations()
    private var proofs = Proofs()
    var questions = QuestionQueue()
    var acknowledgements = AcknowledgementTimes()
    /// How often messages were made to wait again, or for another installation.
    var retries = 0
    /// Called once it is closed.
    var whenClosed: (() -> Void)?
    /// What this gateway has, as far as it has heard, with the revisions of the agents there.
    var shards: [Int64: Int64] = [:]
    /// This gateway writes the database's times.
    var clock: DatabaseClock
    /// The dead letters that were left when some were removed the last time.
    private var trimmed = InboxCounts.Tally(rows: 0, bytes: 0)
    private var upkeepAt: MonotonicInstant
    /// Which part of the shards is looked at next for old rows.
    private var prunedPart: Int64 = 0
    /// Whether rows may be others than delivery knows, since an answer was lost.
    private var isMoved = false

    /// How long after a failure the next connection is tried.
    private static let pause: Duration = .seconds(1)
    private static let upkeepInterval: Duration = .seconds(10)
    /// How long the end waits for what was sent.
    private static let lastWait: Duration = .seconds(3)

    /// Goes on with a session, on its loop's thread.
    ///
    /// - Throws: ``InboxError`` of kind `away` when it broke meanwhile.
    package init(_ session: PostgresSession, _ configuration: PostgresConfiguration, on loop: EventLoop)
        throws(InboxError)
    {
        (self.configuration, self.loop) = (configuration, loop)
        (self.gateway, self.turnNumber) = (session.gateway, session.lastTurn)
        (self.dead, self.clock) = (session.dead, session.clock)
        self.upkeepAt = configuration.clocks.monotonic()
        self.line = .ended
        self.line = .connected(try self.connection(of: session))
    }

    package var isDurable: Bool { true }
    package var commitsWork: Bool { true }
    package var hasMoreToWrite: Bool { !self.proofs.isEmpty }
    package var pendingBytes: Int64 { self.installations.pendingBytes }
    package var backlogRevision: Int { self.retries }
    package var deadLetterStock: DeadLetterStock? {
        DeadLetterStock(self.dead, limit: self.configuration.keepsDead)
    }

    package func pendingBytes(besides installations: Set<Int64>) -> Int64 {
        self.installations.pendingBytes(besides: installations)
    }

    package func proven(installation: Int64, through sequence: Int64) { self.proofs.note(installation, sequence) }
    package func doubt(installation: Int64, through sequence: Int64) { self.proofs.note(installation, sequence) }
    package func acknowledged(_ sequence: Int64, at now: Timestamp) {
        self.acknowledgements.note(sequence, at: now + .milliseconds(self.clock.lead))
    }

    package func settle() {
        self.connection?.finish(within: PostgresStore.lastWait)
    }

    package func close() {
        self.settle()
        let connection = self.connection
        self.line = .ended
        connection?.breaks()
        // Its completion holds whoever waits for it.
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
        let work = PostgresTurn(
            turn, proofs: self.proofs.take(), pruning: part, trims: part != nil && self.hasTooManyDead, at: now,
            isKnown: self.installations.knows)
        self.send(TurnUnderWay(work: work, completion: completion))
    }

    private func send(_ turn: consuming TurnUnderWay) {
        guard let connection else { return self.fail(turn, self.reasonAway) }
        self.underWay = turn
        // More than a block at once: the next one comes first.
        guard turn.work.turn.arrivals.count <= self.numbers.left else {
            return connection.send([(PostgresStatements.takeNumbers, .init())]) { self.tookNumbers($0) }
        }
        self.turnNumber += 1
        let steps = turn.work.steps(as: self.turnNumber, of: self, &self.numbers)
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
        case .rows(let rows): self.succeed(turn, turn.work.outcome(rows, of: self))
        // They are other messages than the rows: once more, as new ones.
        case .refused(let error, let places, let step)
        where turn.work.dropWork(step, error, places: places, at: self.configuration.clocks.monotonic()):
            self.send(turn)
        case .refused(let error, let places, _) where error.sqlState == PostgresStatements.notTheSame:
            turn.work.reject(repetitions: places)
            self.send(turn)
        case .refused(let error, let keys, _) where error.sqlState == PostgresStatements.ofAnother:
            let others = Set(keys.map { Int64($0) })
            self.forget(others)
            // A turn with messages of another gateway would be refused for ever, and all others with it. A process that
            // begins anew has its own share.
            let lost = InboxError(.fenced, step: error.step, sqlState: error.sqlState)
            if turn.work.dropChanges(of: others) { self.send(turn) } else { self.giveUp(turn, lost) }
        case .refused(let error, _, _) where error.isFinal: self.giveUp(turn, error)
        case .refused(let error, _, _): self.fail(turn, error)
        // Nothing is said of it until the database has: see ``goOn(_:)``.
        case .unknown: self.underWay = turn
        }
    }

    private func succeed(_ turn: TurnUnderWay, _ outcome: consuming TurnOutcome) {
        self.gateway.turn = self.turnNumber
        self.gateway.messages += Int64(turn.work.additionCount)
        if let block = turn.work.block { self.numbers.add(block: block) }
        let now = self.configuration.clocks.monotonic()
        if let part = turn.work.pruned, !turn.work.hasMoreToPrune {
            self.plan(upkeepAfter: part)
        }
        if turn.work.trims { self.trimmed = self.dead }
        if turn.work.refuses, self.hasTooManyDead, self.hasManyMoreDead { self.upkeepAt = now }
        outcome.upkeepDue = self.upkeepAt - now
        if self.isMoved { outcome.isMoved = true }
        self.isMoved = false
        turn.completion(.success(outcome))
    }

    private func plan(upkeepAfter part: Int64) {
        self.prunedPart = (part + 1) % PostgresStatements.pruningParts
        self.upkeepAt = self.configuration.clocks.monotonic() + PostgresStore.upkeepInterval
    }

    /// Nothing is written any more.
    private func giveUp(_ turn: TurnUnderWay, _ error: InboxError) {
        let connection = self.connection
        self.line = .away(error)
        connection?.breaks()
        self.fail(turn, error)
    }

    private func fail(_ turn: TurnUnderWay, _ error: InboxError) {
        self.proofs.putBack(turn.work.proofs)
        // It may have failed by what was to be removed with it.
        if let part = turn.work.pruned { self.plan(upkeepAfter: part) }
        turn.completion(.failure(error))
    }

    /// Whether refused messages are to make room: they may be half of what dead letters may.
    private var hasTooManyDead: Bool {
        let limit = self.configuration.keepsDead
        return self.dead.rows > limit.rows / 2 || self.dead.bytes > limit.bytes / 2
    }

    /// Whether a sixteenth of the limit has come since then: removing some reads all of them.
    private var hasManyMoreDead: Bool {
        let limit = self.configuration.keepsDead
        return self.dead.rows >= self.trimmed.rows + max(1, limit.rows / 16)
            || self.dead.bytes >= self.trimmed.bytes + limit.bytes / 16
    }

    // MARK: - Asking

    /// Asks, after everything that was sent until now.
    func ask(
        _ steps: [PostgresConnection.Step], completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        guard let connection else { return completion(.failure(self.reasonAway)) }
        connection.send(steps) { completion($0.result) }
    }

    /// Writes, as long as this process is the gateway. Answers what the steps have returned.
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
        self.proofs.noted(installation) ?? self.underWay?.work.proofs[installation]
    }

    // MARK: - The connection

    /// What statements are sent on, as long as it stands.
    var connection: PostgresConnection? { if case .connected(let connection) = self.line { connection } else { nil } }

    var reasonAway: InboxError {
        if case .away(let error) = self.line { error } else { .away("using a database that was let go of") }
    }

    private func connection(of session: PostgresSession) throws(InboxError) -> PostgresConnection {
        try session.connection(on: self.loop) { [weak self] error in self?.broke(error) }
    }

    private func broke(_ error: InboxError) {
        guard case .connected = self.line else { return }
        self.line = .away(error)
        self.connect()
    }

    /// Connects, on a thread that may wait.
    private func connect() {
        // What an earlier try has sent may come to the server after this one.
        self.gateway.session += 1
        let (configuration, gateway, loop, place) = (self.configuration, self.gateway, self.loop, self.place)
        let thread = try? OSThread(name: "kii-postgres") {
            let session = Result { () throws(InboxError) in
                try PostgresSession(configuration, resuming: gateway)
            }
            loop.submit { place.value.store?.goOn(session) }
        }
        guard let thread else { return self.connectLater() }
        thread.detach()
    }

    private func connectLater() {
        self.loop.schedule(at: self.loop.now + PostgresStore.pause) { [weak self] in
            if let self, case .away = self.line { self.connect() }
        }
    }

    /// The database has said which turn was its last: one that was under way is written, or is no more and never will be.
    private func goOn(_ opened: Result<PostgresSession, InboxError>) {
        guard case .away = self.line else { return }
        do throws(InboxError) {
            let session = try opened.get()
            self.line = .connected(try self.connection(of: session))
            self.dead = session.dead
            self.isMoved = true
            self.installations.refresh(session.pendingBytes)
            guard let turn = self.underWay.take() else { return }
            guard session.lastTurn == self.turnNumber else { return self.fail(turn, .away("committing")) }
            self.giveBack(turn)
        } catch {
            self.line = .away(error)
            // Where a backup was restored, or a standby has taken over that was not synchronous, numbers that this process has
            // given out may come again: a new process has new ones.
            guard error.isFinal else { return self.connectLater() }
            // What it received is not acknowledged, and comes again to whoever has its shards.
            if let turn = self.underWay.take() { self.fail(turn, error) }
        }
    }

    /// What a turn has taken in hand, and nobody has heard of, waits again.
    private func giveBack(_ turn: TurnUnderWay) {
        guard turn.work.takesInHand else { return self.succeed(turn, turn.work.outcomeWithoutAnswers()) }
        self.underWay = turn
        var parameters = PostgresParameters()
        parameters.add(self.gateway.id)
        parameters.add(self.turnNumber)
        self.write([(PostgresStatements.giveBack, parameters)]) { answer in
            switch answer {
            case .success:
                guard let turn = self.underWay.take() else { return }
                self.succeed(turn, turn.work.outcomeWithoutAnswers())
            // As long as it is not known what is in hand, the turn is not over.
            case .failure(let error):
                guard let connection = self.connection else { return }
                self.line = .away(error)
                connection.breaks(error)
                self.connectLater()
            }
        }
    }

    // MARK: - What it has

    /// Forgets installations that others receive as from now on. Verdicts that come later are not written: who has their
    /// messages decides anew.
    func forget(_ installations: Set<Int64>) {
        self.installations.forget(installations)
        self.proofs.forget(installations)
    }

    // MARK: - Counting

    func count(_ arrival: Arrival) {
        self.count(arrival.rowBytes, of: arrival.link.installation, from: nil, to: arrival.rowState)
    }

    func count(_ bytes: Int64, of installation: Int64, from former: RowState?, to state: RowState?) {
        if former != state {
            if former == .dead {
                self.dead = InboxCounts.Tally(rows: self.dead.rows - 1, bytes: self.dead.bytes - bytes)
            }
            if state == .dead {
                self.dead = InboxCounts.Tally(rows: self.dead.rows + 1, bytes: self.dead.bytes + bytes)
            }
        }
        self.installations.moved(bytes, of: installation, from: former, to: state)
    }
}
#endif
