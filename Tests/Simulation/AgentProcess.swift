import KiiPushCore

/// One process of the agent: does the work of ``PushRuntime`` and its agents, without the cloud and without tasks.
///
/// `@unchecked Sendable` is safe, because all events of a history run on one thread.
final class AgentProcess: @unchecked Sendable {
    private let history: History
    private let loop: SimulatedLoop
    private let workforce: Workforce
    private var pipeline: Pipeline?
    private var lines: [Line] = []
    private var dice: Dice
    private(set) var isDead = false
    private(set) var isStopping = false

    private struct Line {
        let client: String
        let link: BrokerLink
        var policy = ReconnectPolicy()
        var beganAt: MonotonicInstant?
        var isUp = false
    }

    init(_ history: History, number: Int) {
        self.history = history
        self.dice = Dice(history.plan.seed, 2, UInt64(number))
        let timeline = history.timeline
        self.workforce = Workforce(timeline, dice: Dice(history.plan.seed, 3, UInt64(number)))
        self.loop = SimulatedLoop(
            timeline, clocks: history.clocks, dice: Dice(history.plan.seed, 4, UInt64(number)),
            connect: { [weak history] stream, target in history?.connect(stream, target) })
    }

    func begin() throws {
        let plan = self.history.plan
        let configuration = self.configuration
        var inbox: FileStore?
        if !plan.agent.isInMemory {
            var file = configuration.inboxFile
            file.clocks = self.history.clocks
            inbox = try FileStore(
                path: self.history.inboxPath, configuration: file, longestDelay: configuration.longestRetryDelay,
                freeBytes: { [history] _ in history.disk.free })
        }
        guard !self.isDead else { return }
        let hubs = Locked<[Int64: EventHub]>([:])
        let pipeline = Pipeline(
            on: self.loop, inbox: inbox, configuration: configuration, hubs: hubs, listeners: Locked(1),
            wake: { [weak self] in self?.loop.wake() },
            threads: .none(onWork: { [weak self] in self?.workforce.wake() }))
        self.pipeline = pipeline
        self.workforce.begin(pipeline)
        self.loop.turnDelegate = pipeline
        self.loop.turnEnded = { [weak self] in self?.judgeBounds() }
        for index in 0..<plan.installations {
            let client = History.topic(index)
            let key = try self.answer { pipeline.store.installation(id: client, of: nil, agent: "a", completion: $0) }
            guard !self.isDead else { return }
            let hub = EventHub()
            hub.observe { [weak self] in self?.heard($0, index) }
            hubs.withLock { $0[key] = hub }
            var session = MQTTSession.Configuration(
                clientID: client, topicFilter: client, keepAlive: plan.agent.keepAlive)
            session.maximumPacketBytes = History.packetBytes
            session.expectsSession = true
            let link = try self.answer {
                pipeline.link(
                    installation: key, configuration: session, verifiesCertificates: true,
                    report: { [weak self] in self?.heard($0, index) }, completion: $0)
            }
            guard !self.isDead else { return }
            self.lines.append(Line(client: client, link: link))
            pipeline.attach(installation: key, id: client, receiver: Handler(self))
        }
        for index in self.lines.indices { self.connect(index) }
        self.loop.wake()
    }

    /// The answer of a store that answers before the question returns, as both stores of a history do.
    private func answer<Answer>(_ question: (@escaping StoreCompletion<Answer>) -> Void) throws -> Answer {
        var answer: Result<Answer, InboxError>?
        question { answer = $0 }
        guard let answer else { preconditionFailure("the store has not answered yet") }
        return try answer.get()
    }

    private var configuration: PushRuntime.Configuration {
        let agent = self.history.plan.agent
        var configuration = PushRuntime.Configuration(stateDirectory: self.history.directory)
        configuration.inbox = agent.isInMemory ? .memory : .file
        configuration.concurrentHandlers = agent.handlers
        configuration.isStrictlyOrdered = agent.isStrict
        if !agent.isInMemory { configuration.retryDelays = agent.pauses }
        configuration.bounds.messagesInMemory = agent.messagesInMemory
        configuration.bounds.handledKeptFor = agent.keptFor
        configuration.bounds.handledKeptBytes = agent.keptBytes
        configuration.environment.clocks = self.history.clocks
        return configuration
    }

    // MARK: - Connections

    private func connect(_ index: Int) {
        guard !self.isDead, !self.isStopping,
            let target = try? BrokerLink.Target(History.endpoint(index), usesTLS: false)
        else { return }
        self.loop.submit { [weak self] in
            guard let self, !self.isDead, !self.isStopping else { return }
            self.lines[index].beganAt = self.history.timeline.now
            self.lines[index].isUp = false
            self.judgeConnecting(index)
            self.lines[index].link.connect(to: target) { [weak self] in self?.ended(index, $0) }
        }
    }

    private func ended(_ index: Int, _ end: BrokerLink.End) {
        guard !self.isDead, !self.isStopping else { return }
        self.lines[index].beganAt = nil
        self.lines[index].isUp = false
        let decision = self.lines[index].policy.connectionEnded(
            end.loss, connectedFor: end.connectedFor, hadSession: end.hadSession,
            jitter: Double.random(in: 0..<1, using: &self.dice))
        self.history.timeline.after(decision.delay) { [weak self] in self?.connect(index) }
    }

    private func heard(_ event: PushEvent, _ index: Int) {
        guard !self.isDead else { return }
        switch event {
        case .connected: self.lines[index].isUp = true
        case .inboxMovedAside(_, let reason, let takenOver, let lost):
            self.history.account.movedAside(reason)
            self.history.account.note("inbox moved aside: \(reason); \(takenOver) taken over, lost \(lost ?? -1)")
            self.history.account.forgets(isAlive: true)
            self.history.account.answersMayBeMissing()
        case .notice(.historyCut, _, _): self.history.account.forgets(isAlive: true)
        case .trouble(.storing, _), .trouble(.reading, _): self.history.account.answersMayBeMissing()
        case .message(let event): self.heard(event)
        default: break
        }
    }

    private func heard(_ event: MessageEvent) {
        if case .dead = event.kind { self.history.account.died(event.messageID) }
    }

    // MARK: - The handler

    func called(_ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion) {
        guard !self.isDead, let number = message["n"]?.int64, let planned = self.history.message(Int(number)) else {
            return self.history.account.violated("a handler was called with an unknown message")
        }
        let account = self.history.account
        account.started(
            context.messageID, number: planned.number, source: "\(planned.installation)/\(planned.source)",
            attempt: context.attempt)
        if !self.history.plan.agent.isInMemory,
            context.deadlineInstant - self.history.timeline.now < .milliseconds(29_990)
        {
            account.violated("row \(context.messageID) has less than 30 s for its answer")
        }
        let call = self.history.calls(of: planned.number)
        var dice = Dice(self.history.plan.seed, 5, UInt64(planned.number), UInt64(call))
        var behaviour = Behaviour(
            planned, call: call, isInMemory: self.history.plan.agent.isInMemory, dice: &dice)
        if self.history.isLastRun, behaviour.answer == .setAside { behaviour.answer = .newData }
        switch behaviour.end {
        case .killed: return self.history.kill(self, power: false)
        case .stopped: self.stop()
        case nil: break
        }
        let attempt = Attempt(
            messageID: context.messageID, number: context.attempt, completion: completion,
            sleeps: self.history.sleeps)
        self.expire(attempt)
        self.workforce.callTakes = behaviour.takes
        if behaviour.takes == .zero {
            account.returned(context.messageID, attempt: context.attempt)
        } else {
            self.later(behaviour.takes) { account.returned(context.messageID, attempt: context.attempt) }
        }
        if behaviour.answersAfter == .zero {
            self.answer(attempt, behaviour)
        } else {
            self.later(behaviour.answersAfter) { [weak self] in self?.answer(attempt, behaviour) }
        }
    }

    private final class Attempt {
        let messageID: Int64
        let number: Int
        var completion: FetchCompletion?
        /// The number of sleeps of the machine before the attempt. A sleep shortens the attempt's time.
        let sleeps: Int

        init(messageID: Int64, number: Int, completion: FetchCompletion, sleeps: Int) {
            self.messageID = messageID
            self.number = number
            self.completion = completion
            self.sleeps = sleeps
        }
    }

    private func later(_ pause: Duration, _ body: @escaping () -> Void) {
        self.history.timeline.after(pause) { [weak self] in
            if let self, !self.isDead { body() }
        }
    }

    private func pause(after attempt: Int) -> Duration {
        let pauses = self.history.plan.agent.allPauses
        return pauses.indices.contains(attempt - 1) ? pauses[attempt - 1] : .zero
    }

    private func expire(_ attempt: Attempt) {
        self.later(.seconds(30)) { [weak self] in
            if attempt.completion != nil { self?.failed(attempt) }
        }
    }

    private func failed(_ attempt: Attempt) {
        guard attempt.sleeps == self.history.sleeps else { return }
        self.history.account.failed(
            attempt.messageID, attempt: attempt.number, pause: self.pause(after: attempt.number))
    }

    private func answer(_ attempt: Attempt, _ behaviour: Behaviour) {
        guard let completion = attempt.completion else { return }
        attempt.completion = nil
        let account = self.history.account
        let isInTime = behaviour.answersAfter < .seconds(30)
        let counted: Bool
        switch behaviour.answer {
        case .newData, .noData:
            counted = completion(behaviour.answer == .newData ? .newData : .noData)
            if counted { account.succeeded(attempt.messageID) }
        case .failed:
            counted = completion(.failed)
            if counted { self.failed(attempt) }
        case .threw:
            completion.fail(ThrownError())
            counted = isInTime
            if counted { self.failed(attempt) }
        case .rejected: counted = completion.reject("no")
        case .setAside:
            counted = completion.setAside()
            if counted { account.setAside(attempt.messageID) }
        case .none:
            counted = false
            if isInTime { self.failed(attempt) }
        }
        if behaviour.answersTwice, behaviour.answer != .none, completion(.newData) {
            // A rejected answer must leave the completion as it is.
            if counted { account.violated("a second answer to row \(attempt.messageID) counted") }
            account.succeeded(attempt.messageID)
        }
    }

    private struct ThrownError: Error {}

    // MARK: - The end of the process

    func die() {
        self.isDead = true
        self.loop.isDead = true
        self.loop.turnDelegate = nil
        self.workforce.die()
    }

    /// None of the dead process's code may be running.
    func release() {
        self.workforce.release()
        self.pipeline?.release()
        self.pipeline = nil
        self.lines = []
        self.loop.release()
    }

    /// Ends like an agent whose task is cancelled and whose runtime shuts down.
    func stop() {
        guard !self.isDead, !self.isStopping, let pipeline else { return }
        self.isStopping = true
        self.loop.submit { [weak self] in
            guard let self, !self.isDead else { return }
            for line in self.lines {
                line.link.stopReading()
                pipeline.detach(installation: line.link.installation)
            }
        }
        self.later(.seconds(10)) { [weak self] in self?.finish() }
    }

    private func finish() {
        for line in self.lines { line.link.disconnect() }
        self.workforce.shutdown()
        self.loop.end()
        guard !self.isDead else { return }
        self.history.ended(self)
    }

    // MARK: - For the history

    func clocksJumped(_ jump: ClockJump) {
        self.loop.submit { [weak self] in
            guard let self, !self.isDead else { return }
            // Only now does the process learn of the sleep: its pauses until here ran as if nothing had happened.
            self.history.account.slept()
            self.pipeline?.clocksJumped(jump)
        }
    }

    var standing: String {
        "\(self.pipeline.map { "\($0.ledger)" } ?? "no inbox"); \(self.lines.count { $0.isUp }) connections stand"
    }

    var isIdle: Bool {
        guard let pipeline, !self.isStopping, self.lines.allSatisfy(\.isUp) else { return false }
        let ledger = pipeline.ledger
        return ledger.waiting - Int64(self.history.account.setAsideCount) <= 0 && ledger.running == 0
    }

    /// Reports a connection that is still being made after 35 s. The agent limits connecting, CONNACK and SUBACK.
    private func judgeConnecting(_ index: Int, after pause: Duration = .seconds(35)) {
        let beganAt = self.lines[index].beganAt
        self.later(pause) { [weak self] in
            guard let self, !self.isStopping else { return }
            let line = self.lines[index]
            guard !line.isUp, line.beganAt == beganAt else { return }
            // CONNECT may wait until the inbox is writable.
            let left = self.history.diskFailsUntil + .seconds(35) - self.history.timeline.now
            if left > .zero { return self.judgeConnecting(index, after: left) }
            self.history.account.violated("35 s after it began a connection was neither up nor ended")
        }
    }

    private func judgeBounds() {
        guard let pipeline else { return }
        let agent = self.history.plan.agent
        let (weight, limit) = (pipeline.scheduler.memoryWeight, agent.messagesInMemory * 5 / 4 + 4)
        guard !agent.isInMemory, weight > limit else { return }
        if !agent.isStrict || weight > limit + self.history.account.retries {
            self.history.account.violated("delivery has a weight of \(weight) in memory")
        }
    }
}
