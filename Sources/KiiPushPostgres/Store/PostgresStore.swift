#if Postgres
package import KiiPushCore

/// The store that gateways share: messages are rows of a PostgreSQL. Once a commit has returned, its data is in the
/// database's log, on its disk and on its synchronous standbys, if it has any.
///
/// Lives on the loop's thread and never blocks it: a turn is one transaction, sent as a whole and answered in a later
/// turn of the loop. After a broken connection, the store neither repeats nor gives up an unanswered turn before the
/// database has reported its result.
package final class PostgresStore: Store {
    private enum Line {
        case connected(PostgresConnection)
        /// The last attempt to connect failed, for this reason.
        case away(InboxError)
        case ended
    }

    private struct TurnUnderWay {
        var work: PostgresTurn
        let completion: StoreCompletion<TurnOutcome>
    }

    /// A weak reference for the thread that connects, which must not keep the store alive.
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
    /// Number of dead letters, as far as this gateway knows.
    var dead: InboxCounts.Tally
    var installations = KnownInstallations()
    private var proofs = Proofs()
    var questions = QuestionQueue()
    var acknowledgements = AcknowledgementTimes()
    /// Number of messages that were made to wait again, or moved to another installation.
    var retries = 0
    var whenClosed: (() -> Void)?
    /// This gateway's shards, as far as it knows, with the revisions of the agents there.
    var shards: [Int64: Int64] = [:]
    /// This gateway writes the database's times.
    var clock: DatabaseClock
    /// The dead letters that were left after the last removal.
    private var trimmed = InboxCounts.Tally(rows: 0, bytes: 0)
    private var upkeepAt: MonotonicInstant
    /// The part of the shards to search next for old rows.
    private var prunedPart: Int64 = 0
    /// Whether rows may differ from delivery's knowledge, since an answer was lost.
    private var isMoved = false

    private static let pause: Duration = .seconds(1)
    private static let upkeepInterval: Duration = .seconds(10)
    /// The longest wait for statements under way at the end.
    private static let lastWait: Duration = .seconds(3)

    /// Takes over a session, on its loop's thread.
    ///
    /// - Throws: ``InboxError`` of kind `away` when the connection broke meanwhile.
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
        // The turn's completion retains whoever waits for it.
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
        // More messages than a block has numbers: the next block comes first.
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
        // First case: the turn is sent again without the refused handler's answer. Second case: messages that are not
        // their rows are sent again as new ones.
        case .refused(let error, let places, let step)
        where turn.work.dropWork(step, error, places: places, at: self.configuration.clocks.monotonic()):
            self.send(turn)
        case .refused(let error, let places, _) where error.sqlState == PostgresStatements.notTheSame:
            turn.work.reject(repetitions: places)
            self.send(turn)
        case .refused(let error, let keys, _) where error.sqlState == PostgresStatements.ofAnother:
            let others = Set(keys.map { Int64($0) })
            self.forget(others)
            // The database would refuse a turn with messages of another gateway for ever, and all turns after it. A
            // restarted process gets its own share.
            let lost = InboxError(.fenced, step: error.step, sqlState: error.sqlState)
            if turn.work.dropChanges(of: others) { self.send(turn) } else { self.giveUp(turn, lost) }
        case .refused(let error, _, _) where error.isFinal: self.giveUp(turn, error)
        case .refused(let error, _, _): self.fail(turn, error)
        // The turn has no result until the database reports it: see ``goOn(_:)``.
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

    /// Fails the turn and closes the connection: this store writes nothing any more.
    private func giveUp(_ turn: TurnUnderWay, _ error: InboxError) {
        let connection = self.connection
        self.line = .away(error)
        connection?.breaks()
        self.fail(turn, error)
    }

    private func fail(_ turn: TurnUnderWay, _ error: InboxError) {
        self.proofs.putBack(turn.work.proofs)
        // The failure's cause may be the removal of old rows in the same turn.
        if let part = turn.work.pruned { self.plan(upkeepAfter: part) }
        turn.completion(.failure(error))
    }

    /// Whether to remove refused messages: they may use half of the limit of dead letters.
    private var hasTooManyDead: Bool {
        let limit = self.configuration.keepsDead
        return self.dead.rows > limit.rows / 2 || self.dead.bytes > limit.bytes / 2
    }

    /// Whether a sixteenth of the limit has come since the last removal, which reads all of them.
    private var hasManyMoreDead: Bool {
        let limit = self.configuration.keepsDead
        return self.dead.rows >= self.trimmed.rows + max(1, limit.rows / 16)
            || self.dead.bytes >= self.trimmed.bytes + limit.bytes / 16
    }

    // MARK: - Asking

    /// Sends statements, after everything that was sent before.
    func ask(
        _ steps: [PostgresConnection.Step], completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        guard let connection else { return completion(.failure(self.reasonAway)) }
        connection.send(steps) { completion($0.result) }
    }

    /// Writes, if this process is still the gateway. Answers with the rows of `steps`.
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

    private func connect() {
        // Statements of an earlier attempt may reach the server after the statements of this one.
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

    /// Continues with a new session. The database has named its last turn, so the turn under way is either written, or
    /// gone for good.
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
            // After the restoration of a backup, or a takeover by a standby that was not synchronous, the database may
            // give out numbers that this process has used. A new process gets new ones.
            guard error.isFinal else { return self.connectLater() }
            // Its messages are not acknowledged, and come again to the gateway that has its shards.
            if let turn = self.underWay.take() { self.fail(turn, error) }
        }
    }

    /// Makes messages wait again that the turn took but whose answer was lost.
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
            // While it is unknown which messages are in hand, the turn is not over.
            case .failure(let error):
                guard let connection = self.connection else { return }
                self.line = .away(error)
                connection.breaks(error)
                self.connectLater()
            }
        }
    }

    // MARK: - What it has

    /// Forgets installations that others receive for from now on. Later verdicts are not written: the new gateway of
    /// their messages decides anew.
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
