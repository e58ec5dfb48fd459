#if Postgres
import Glibc
import KiiPushActivation
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct GatewaySession: Sendable {
    private enum Event: Sendable {
        case stop(signal: Int32)
        case ask(signal: Int32)
        case ended((any Error)?)
        case trouble(TroubledAgents.Change)
        case fleet(database: Int, FleetEvent)
        case failed(any Error)
    }

    private let name: String
    private let store: FleetStore
    private let configuration: PushRuntime.Configuration
    private let notes = MessageNotes()
    private let handlerText: String
    private let outside: any OutsideHandler
    private let view: RunView
    private let console: Console
    private let notifier: ServiceNotifier
    private let metrics: MetricsPublisher?
    private let events = AsyncStream.makeStream(of: Event.self)

    init(
        _ settings: RunSettings, _ store: FleetStore, name: String?, _ connection: ConnectionOptions,
        _ metrics: MetricsPublisher?, _ console: Console
    ) throws {
        self.metrics = metrics
        let host = HostProcess.hostName
        self.name = name ?? (host.isEmpty ? "gateway" : host)
        self.console = console
        self.notifier = ServiceNotifier(path: EnvironmentVariable.notifySocket.text)
        guard AgentStateFile.isValidName(self.name) else {
            throw CommandFailure(
                .usage,
                "a gateway's name has to be 1 to 64 of letters, digits, -, _ and ., not beginning with .: name one with "
                    + "'--gateway'", helpPath: "kii-push-gateway run")
        }
        let directory = try FilePaths().gateways + "/" + self.name
        try PrivateFile.makeDirectory(directory)
        let report = { @Sendable (event: Activator.Event) in
            console.detail("program: \(event.description.terminalSafe)")
        }
        guard let outside = try settings.outsideHandler(directory: directory, report: report) else {
            throw CommandFailure(
                .usage, "who is to handle the messages? '--exec COMMAND' or '--forward-to URL' is missing",
                helpPath: "kii-push-gateway run")
        }
        self.outside = outside
        self.handlerText = settings.handlerText
        self.view = RunView(
            console: console, installationID: self.name, notes: self.notes,
            failed: { [continuation = self.events.continuation] in continuation.yield(.failed($0)) })
        var configuration = PushRuntime.Configuration(stateDirectory: directory)
        configuration.certificateAuthorityFile = connection.caFile
        configuration.verifiesCertificates = !connection.insecure
        configuration.clientCertificateFile = connection.clientCertificateFile
        configuration.clientKeyFile = connection.clientKeyFile
        configuration.proxy = connection.proxy
        configuration.userAgent = connection.userAgent ?? UserAgent.ofTool
        configuration.concurrentHandlers = settings.options.handler.jobs?.value ?? 1
        (self.store, self.configuration) = (store, configuration)
    }

    /// Runs until a signal or a failure. Throws the failure, or ``SilentExit`` after a signal.
    func run() async throws {
        let begun = ContinuousClock.now
        let signals = try StopSignals.ofCommand(asks: [SIGHUP, SIGUSR1])
        let report = self.events.continuation
        self.outside.begin()
        let shares = Locked(GatewayMetrics(databases: self.store.targets.count))
        await self.metrics?.add { [fleet = Fleet(self.store), name] in
            let backlogs = await fleet.backlog(of: name, besides: shares.withLock { $0.failing })
            return shares.withLock { $0 }.prometheusText(backlogs)
        }
        let trouble = Locked(TroubledAgents())
        // Buffered, since a slow reader of the output must not delay the end of the gateway.
        let shown = EventQueue()
        let showing = Task {
            var told: [String: ContinuousClock.Instant] = [:]
            for await (agent, notice) in shown.notices { await self.show(notice, of: agent, &told) }
        }
        let (outside, notes) = (self.outside, self.notes)
        let receiving = Task { [fleet = Fleet(self.store), name, configuration, metrics] in
            do {
                try await fleet.receive(
                    as: name, configuration: configuration,
                    handler: { OutsideBridge(outside: outside, notes: notes, agent: $0) },
                    observer: { agent, event in
                        metrics?.count(event, of: agent)
                        if let change = trouble.withLock({ $0.noted(event, of: agent) }) {
                            report.yield(.trouble(change))
                        } else {
                            shown.put(event, of: agent)
                        }
                    },
                    tell: { database, event in
                        shares.withLock { $0.count(event, of: database) }
                        report.yield(.fleet(database: database, event))
                    })
                report.yield(.ended(nil))
            } catch {
                report.yield(.ended(error))
            }
        }
        let stopping = Task { if let number = await signals.next() { report.yield(.stop(signal: number)) } }
        let asking = Task { for await number in signals.asks { report.yield(.ask(signal: number)) } }
        defer {
            stopping.cancel()
            asking.cancel()
        }
        var stopped: Int32?
        var standing = "Starting."
        var failure: (any Error)?
        loop: for await event in self.events.stream {
            switch event {
            case .stop(let signal):
                stopped = signal
                self.notifier.stopping()
                receiving.cancel()
            case .ask(SIGUSR1):
                let state = self.state(since: begun, shares.withLock { $0 })
                StandardStream.error.say(state.terminalText + "\n")
            case .ask:
                self.console.status("> What is declared comes from the database by itself; nothing is read again.")
            case .ended(let error):
                failure = failure ?? error
                break loop
            case .failed(let error):
                failure = error
                receiving.cancel()
            case .trouble(.began(.storing, let reason)):
                let place = self.store.isOne ? "" : "of one database "
                let text = "\(place)nothing is acknowledged: \(reason.terminalSafe)"
                self.notifier.offline(text, retryIn: .seconds(1))
                self.console.warning(text)
            case .trouble(.ended(.storing)):
                if shares.withLock({ $0.failing.isEmpty }) { self.notifier.connected(standing) }
                self.console.status("> Messages are stored again.")
            case .trouble(.began(let kind, let reason)): shown.put(.trouble(kind, reason: reason))
            case .trouble(.ended(let kind)): shown.put(.recovered(kind))
            case .fleet(let database, let event):
                if case .holding(let shards, let agents, let gateways) = event {
                    standing =
                        "\(shards) of 1024 shards with \(agents.text(of: "agent")); "
                        + "\(gateways.text(of: "gateway")) \(gateways == 1 ? "shares" : "share")"
                    if shares.withLock({ $0.failing.isEmpty }), trouble.withLock({ $0.count(.storing) == 0 }) {
                        self.notifier.connected(standing)
                    }
                    self.console.status("> \(self.name(at: database)): \(standing).")
                }
                self.show(event, of: database)
            }
        }
        shown.finish()
        await showing.wait(atMost: .seconds(2))
        await self.outside.stop()
        if let failure { throw failure }
        if let stopped { throw SilentExit.status(.afterStop(signal: stopped)) }
    }

    // MARK: - Telling

    private func state(since begun: ContinuousClock.Instant, _ shares: GatewayMetrics) -> JSONValue {
        JSONValue.object(present: [
            "v": 1, "type": "service", "at": Timestamp.now(), "pid": getpid(),
            "uptime_ms": (ContinuousClock.now - begun).milliseconds, "gateway": self.name,
            "handler": self.handlerText, "in_hand": self.notes.inHand, "databases": shares.json,
        ])
    }

    private func name(at database: Int) -> String {
        self.store.isOne ? self.name : "\(self.name), database \(database + 1)"
    }

    private func show(_ event: FleetEvent, of database: Int) {
        let name = self.name(at: database)
        switch event {
        case .holding: break
        case .tookOver(let shards):
            self.console.warning(
                "\(name): a gateway is gone: \(shards.text(of: "shard")) of it are free for those that live")
        case .databaseFailed(let reason):
            self.notifier.offline(reason.terminalSafe, retryIn: .seconds(1))
            self.console.warning("\(name): nothing is acknowledged: \(reason.terminalSafe)")
        case .refused(let reason): self.console.warning("\(name): \(reason.terminalSafe)")
        case .databaseRecovered: self.console.status("> \(name): the database works again.")
        case .leaseOver: self.console.warning("\(name): the lease could not be renewed; all agents stop until it is")
        case .agentFailed(let name, let reason, let pause):
            let next = pause.map { "again in \($0.text)" } ?? "declare it anew"
            self.console.warning("agent \(name.terminalSafe): \(reason.terminalSafe); \(next)")
        }
    }

    /// Shows outcomes of messages and failed subscriptions. Agents that go offline or give a notice cause a warning, at
    /// most once a minute for each reason, however many agents have it. `--verbose` shows each connection, disconnection
    /// and notice.
    ///
    /// - Parameter told: the time of the last warning, by state and reason.
    private func show(
        _ notice: ControlNotice, of agent: String?, _ told: inout [String: ContinuousClock.Instant]
    ) async {
        // A notice without an agent may concern several agents.
        guard let agent, case .event(let event) = notice else { return await self.view.show(notice) }
        switch event {
        case .message: await self.view.show(notice, of: agent)
        case .disconnected(let reason, _): self.warn("offline", reason, of: agent, &told)
        case .notice(let kind, let reason, _): self.warn(kind.rawValue, reason, of: agent, &told)
        case .subscriptionFailed(let target, let reason, _):
            let name = "\(agent.terminalSafe): not subscribed to \(target.text.terminalSafe)"
            self.console.warning("\(name): \(reason.terminalSafe)")
        case .connected: self.console.detail("\(agent): connected")
        default: break
        }
    }

    private func warn(
        _ state: String, _ reason: String, of agent: String, _ told: inout [String: ContinuousClock.Instant]
    ) {
        let words = "\(state): \(reason.terminalSafe)"
        let text = "\(agent.terminalSafe): \(words)"
        guard told[words].map({ ContinuousClock.now - $0 > .seconds(60) }) ?? true else {
            return self.console.detail(text)
        }
        told = told.filter { ContinuousClock.now - $0.value <= .seconds(60) }
        told[words] = .now
        self.console.warning(text)
    }
}
#endif
