/// One agent's reception, from its first connection to its stop.
final class AgentSession: Sendable {
    enum Outcome: Sendable {
        case end(BrokerLink.End)
        /// The agent has to stop; the connection still stands.
        case stopped
        /// The subscription stands; only for a caller that waits for it.
        case connected
        /// The endpoint has expired; the connection still stands.
        case expired
    }

    private struct Connection {
        var end: BrokerLink.End?
        /// Whether the subscription stands.
        var isUp = false
        var waiting: OneShot<Outcome>?
        /// Whether ``waiting`` also waits for the subscription.
        var waitsForUp = false
    }

    let agent: PushAgent
    let core: PushRuntime.Core
    let loop: EventLoop
    /// The store's key of the installation.
    let installation: (key: Int64, id: String)
    /// This installation and its predecessors, whose messages are delivered to the end.
    let installations: Locked<[(key: Int64, id: String)]>
    private let link: LoopIsolated<BrokerLink>
    private let connection = Locked(Connection())
    /// Whether the broker has accepted a connection since the agent began to receive.
    private let hasConnected = Locked(false)
    private let choice: Locked<TransportChoice>

    /// Waits until the store has written everything so far, and makes the link to the broker, without a connection yet.
    ///
    /// - Throws: ``PushAgentError/inbox(reason:)``, ``PushAgentError/file(_:)``; `CancellationError`; `TransportError` with
    ///   code `shutDown`.
    init(agent: PushAgent, core: PushRuntime.Core, endpoint: MQTTEndpoint) async throws {
        self.agent = agent
        self.core = core
        let loop = agent.runtime.loop
        self.loop = loop
        let remembersWebSocket = agent.enrolment.current?.usesWebSocket ?? false
        self.choice = Locked(TransportChoice(agent.configuration, remembersWebSocket: remembersWebSocket))
        let (hub, enrolment, connection) = (agent.hub, agent.enrolment, self.connection)
        let settings = agent.runtime.configuration
        var configuration = MQTTSession.Configuration(
            clientID: endpoint.mqttTopic, topicFilter: endpoint.mqttTopic, keepAlive: agent.configuration.keepAlive,
            connectTimeout: settings.environment.connectTimeout, pingTimeout: settings.environment.pingTimeout)
        // The loss of a session under another topic counts, too: its messages will not arrive.
        configuration.expectsSession = enrolment.current.map { $0.hasSession || $0.lostSession } ?? false
        if !core.isDurable { try await enrolment.leavesInboxFile() }
        let voidsEarlierRows = core.isDurable && enrolment.current?.usesInboxFile != true
        let (owner, name) = (agent.inboxOwner, agent.configuration.name)
        let former = enrolment.current?.formerInstallationIDs ?? []
        var installations: [(key: Int64, id: String)] = []
        do {
            let own = try await loop.ask(core.pipeline) {
                $0.store.installation(id: endpoint.installationID, of: owner, agent: name, completion: $1)
            }
            installations.append((own, endpoint.installationID))
            for id in former where id != endpoint.installationID {
                // A former installation keeps the owner on record.
                do {
                    let key = try await loop.ask(core.pipeline) {
                        $0.store.installation(id: id, of: nil, agent: name, completion: $1)
                    }
                    installations.append((key, id))
                } catch let error as InboxError where error.kind == .ofAnother {
                    // Another agent handles its messages by now.
                }
            }
            let report = { @Sendable (event: PushEvent) in
                if case .connected(let open) = event {
                    enrolment.sessionOpened(withInboxFile: core.isDurable, usesWebSocket: open.usesWebSocket)
                    let waiting = connection.withLock { connection in
                        connection.isUp = true
                        return connection.waitsForUp ? connection.waiting : nil
                    }
                    waiting?.resume(.connected)
                }
                hub.emit(event)
            }
            // The broker may repeat messages of an earlier connection. The agent recognises a repetition only if the
            // message is stored.
            while !(await agent.runtime.writes(within: .seconds(1))) {
                try await loop.run {}
                try await Task.sleep(for: .milliseconds(100))
            }
            self.link = try await loop.ask(core.pipeline) { [configuration] pipeline, completion in
                pipeline.link(
                    installation: own, configuration: configuration, voidsEarlierRows: voidsEarlierRows,
                    verifiesCertificates: settings.verifiesCertificates, report: report
                ) { made in
                    completion(
                        made.map { link in
                            link.retained = enrolment.retainedMessage(withInboxFile: core.isDurable) {
                                pipeline.ledger
                            }
                            return LoopIsolated(confining: link, to: loop)
                        })
                }
            }
        } catch let error as InboxError {
            throw PushAgentError(error, in: settings.stateDirectory)
        }
        self.installation = installations[0]
        self.installations = Locked(installations)
    }

    /// Connects, waits for the subscription, and disconnects, so that the broker keeps a session.
    ///
    /// - Returns: how the connection ended, if it ended before the subscription stood.
    /// - Throws: ``PushAgentError/noUsablePort(usesTLS:usesWebSocket:)``; `CancellationError`; `TransportError` with code `shutDown`.
    func openOnce(_ endpoint: MQTTEndpoint, whileConnected body: () async -> Void = {}) async throws -> BrokerLink.End?
    {
        try self.begin(endpoint)
        var outcome = await self.outcome(untilConnected: true)
        // This is a single attempt, so it takes the other port at once.
        if case .end(let end) = outcome, end.wasReached == false, self.choice.withLock({ $0.turn(at: endpoint) }) {
            try self.begin(endpoint)
            let other = await self.outcome(untilConnected: true)
            // Where neither is reached, the first says more: the other only stands in for it.
            if case .end(let end) = other, end.wasReached != true {} else { outcome = other }
        }
        if case .connected = outcome { await body() }
        try await self.loop.run { [link = self.link] in link.value.disconnect() }
        switch outcome {
        case .connected: return nil
        case .end(let end): return end
        case .stopped, .expired: throw CancellationError()
        }
    }

    /// Receives until cancelled, or until the cloud names another installation or topic.
    ///
    /// - Parameter policy: the history of losses; the next session goes on with it.
    /// - Returns: the other endpoint; `nil` when the agent is to stop.
    /// - Throws: ``PushAgentError``, or an error of the cloud's that will not pass. The agent has stopped then, too.
    func run(_ first: MQTTEndpoint, policy: inout ReconnectPolicy) async throws -> MQTTEndpoint? {
        self.agent.link.withLock { [link = self.link] in $0 = link }
        defer { self.agent.link.withLock { $0 = nil } }
        try await self.takeOver()
        self.agent.desk.beginRestoring()
        let installations = self.installations.withLock { $0 }
        for (key, id) in installations { self.attach(key, id) }
        // In this turn the hub gets the events that happened before it was there.
        self.loop.submit {}
        let id = self.installation.id
        let runtime = self.agent.runtime
        runtime.adopters.withLock { $0[id] = { [weak self] in self?.adopted($0) } }
        defer {
            runtime.adopters.withLock { $0[id] = nil }
            for (key, _) in self.attached {
                // In this turn the other agents may find that fewer messages wait.
                self.loop.submit { [core] in core.pipeline.value.detach(installation: key) }
                runtime.hubs.withLock { $0[key] = nil }
            }
        }
        async let _: Void = self.agent.presentAgain(installations, self.core)
        do {
            if let other = try await self.receive(first, policy: &policy) {
                if let registration = self.agent.enrolment.current?.registration {
                    self.agent.hub.emit(.registered(registration))
                }
                return other
            }
        } catch is CancellationError {
            // Wherever the cancellation was noticed, it is the same request to stop.
        } catch {
            await self.stop()
            throw error
        }
        await self.stop()
        return nil
    }

    /// Keeps a connection until there is a reason to end.
    ///
    /// - Returns: the other endpoint that the cloud named; `nil` when the agent is to stop.
    private func receive(_ first: MQTTEndpoint, policy: inout ReconnectPolicy) async throws -> MQTTEndpoint? {
        var endpoint = first
        var isFetched = false
        // The number of times in a row that the broker refused a subscription that the cloud then confirmed.
        var confirmedRefusals = 0
        let (hub, waits) = (self.agent.hub, self.agent.runtime.waits)
        while true {
            try self.begin(endpoint)
            let (outcome, other) = try await self.outcome(of: &endpoint)
            if let other {
                _ = try? await self.loop.run { [link = self.link] in link.value.disconnect() }
                return other
            }
            guard case .end(let end) = outcome, !end.isOfShutdown else { return nil }
            self.choice.withLock { $0.ended(at: endpoint, wasReached: end.wasReached) }
            if end.connectedFor != nil { self.hasConnected.withLock { $0 = true } }
            // Somebody may be replacing a configuration that once worked.
            if let error = end.configurationError, !self.hasConnected.withLock({ $0 }) { throw error }
            if !end.refusesSubscription { confirmedRefusals = 0 }
            let mark = waits.mark
            let decision = try await self.decision(after: end, at: endpoint, &policy)
            if let takeover = decision.takeover { hub.emit(.notice(.takenOver, reason: takeover)) }
            // An endpoint from the file may be long out of date, so the agent asks the cloud once.
            let refreshes =
                decision.refreshesEndpoint || (!isFetched && end.connectedFor == nil) || self.isExpired
            var reason = end.reason(decision.pattern)
            // The agent asks for a new endpoint at once, and reports the result together with the refusal.
            var isTold = !(end.refusesEndpoint && decision.delay == .zero)
            if isTold { hub.emit(.disconnected(reason: reason, retryIn: decision.delay)) }
            try await waits.pass(decision, policy, since: mark)
            if refreshes, self.agent.enrolment.endpointPause == .zero {
                let answer = try await self.askForEndpoint()
                if let fetched = answer.endpoint {
                    isFetched = true
                    let isSamePlace = endpoint.isSamePlace(as: fetched)
                    guard isSamePlace, endpoint.isSameAccess(as: fetched) else {
                        if !isTold { hub.emit(.disconnected(reason: reason, retryIn: .zero)) }
                        guard isSamePlace else { return fetched }
                        endpoint = fetched
                        confirmedRefusals = 0
                        continue
                    }
                    endpoint = fetched
                    if end.refusesSubscription { confirmedRefusals += 1 }
                    if confirmedRefusals >= self.agent.reconnect.refusalsBeforeGivingUp {
                        throw PushAgentError.subscriptionRefused
                    }
                } else {
                    // The broker is another server than the cloud: the agent tries it meanwhile.
                    reason = isTold ? answer.reason : "\(reason); \(answer.reason)"
                    isTold = false
                }
            }
            // The same endpoint would be refused again.
            let pause = decision.delay == .zero ? policy.nothingNew() : .zero
            if !isTold || pause > .zero { hub.emit(.disconnected(reason: reason, retryIn: pause)) }
            try await waits.pass(pause, since: waits.mark)
        }
    }

    private var isExpired: Bool { self.agent.enrolment.endpointTimeLeft.map { $0 <= .zero } ?? false }

    /// Waits for the end of the connection. Whenever the endpoint expires, it asks the cloud meanwhile: the broker may
    /// go on to serve a topic that gets no more messages.
    ///
    /// - Parameter endpoint: the endpoint of the connection; afterwards the last one that the cloud named.
    /// - Returns: how the connection ended, or, while it still stands, the other endpoint that the cloud named.
    private func outcome(of endpoint: inout MQTTEndpoint) async throws -> (Outcome, other: MQTTEndpoint?) {
        // The pauses hold even for a cloud that names endpoints which have expired already.
        var policy = ReconnectPolicy(configuration: self.agent.reconnect)
        var pause = Duration.zero
        while true {
            // The mark comes before the look at the calendar, so that the wait misses no change of the calendar in
            // between.
            let mark = self.agent.runtime.waits.mark
            let left = self.agent.enrolment.endpointTimeLeft
            let wanted = max(pause, self.agent.enrolment.endpointPause)
            let outcome = await self.outcome(expiringIn: left.map { max($0, wanted) }, since: mark)
            guard case .expired = outcome else { return (outcome, nil) }
            guard self.isExpired, self.agent.enrolment.endpointPause == .zero else { continue }
            if let fetched = try await self.askForEndpoint().endpoint {
                guard endpoint.isSamePlace(as: fetched) else { return (outcome, fetched) }
                endpoint = fetched
            }
            pause = policy.connectionEnded(.attemptFailed, connectedFor: nil).delay
        }
    }

    /// Asks the cloud for the endpoint. Without an endpoint, the reason says why the cloud gives none now.
    private func askForEndpoint() async throws -> (endpoint: MQTTEndpoint?, reason: String) {
        do {
            return (try await self.agent.enrolment.endpoint(refreshing: true), "")
        } catch let error as TransportError
            where error.code == .invalidConfiguration && error.curlCode != nil && self.hasConnected.withLock({ $0 })
        {
            // The same as for the broker: somebody may be replacing certificates that worked.
            return (nil, error.description)
        } catch {
            guard let failure = self.agent.enrolment.temporaryFailure(error) else { throw error }
            return (nil, failure.reason)
        }
    }

    func target(_ endpoint: MQTTEndpoint) throws(PushAgentError) -> BrokerLink.Target {
        let usesWebSocket = self.choice.withLock { $0.usesWebSocket(at: endpoint) }
        return try BrokerLink.Target(
            endpoint, usesTLS: self.agent.configuration.usesTLS, usesWebSocket: usesWebSocket)
    }

    private func begin(_ endpoint: MQTTEndpoint) throws(PushAgentError) {
        let target = try self.target(endpoint)
        self.agent.hub.emit(.connecting(host: endpoint.host, port: Int(target.port), usesTLS: target.usesTLS))
        self.connection.withLock { $0 = Connection() }
        self.loop.submit { [link = self.link, connection = self.connection] in
            link.value.connect(to: target) { end in
                let waiting = connection.withLock { connection in
                    connection.end = end
                    return connection.waiting
                }
                waiting?.resume(.end(end))
            }
        }
    }

    /// Waits for the end of the connection, for the task's cancellation, and for the subscription if `untilConnected`.
    /// It also waits for the expiry of the endpoint, counted from `mark`: a jump of the clocks ends that wait early.
    private func outcome(
        untilConnected: Bool = false, expiringIn timeLeft: Duration? = nil,
        since mark: InterruptibleWaits.Mark = .init()
    ) async -> Outcome {
        let outcome = OneShot<Outcome>()
        let early = self.connection.withLock { connection -> Outcome? in
            if let end = connection.end { return .end(end) }
            if untilConnected, connection.isUp { return .connected }
            connection.waiting = outcome
            connection.waitsForUp = untilConnected
            return nil
        }
        if let early { return early }
        // A loop that has ended calls nobody back.
        if !self.loop.submit({}) { outcome.resume(.stopped) }
        async let _: Void = {
            guard let timeLeft else { return }
            await self.agent.runtime.waits.wait(timeLeft, since: mark)
            if !Task.isCancelled { outcome.resume(.expired) }
        }()
        return await outcome.value(onCancel: .stopped)
    }

    /// Stops gracefully: it takes no more messages, running handlers finish, and their answers are stored and
    /// acknowledged.
    private func stop() async {
        let link = self.link
        let grace = self.agent.runtime.configuration.shutdownGrace
        // Messages that are adopted from here on are for the next run.
        self.agent.runtime.adopters.withLock { $0[self.installation.id] = { _ in } }
        // The loop may be gone already, if the whole runtime was shut down; then there is nothing left to say.
        _ = try? await self.loop.run { link.value.stopReading() }
        let installations = self.attached
        _ = try? await self.loop.run { [core] in
            for (key, _) in installations { core.pipeline.value.detach(installation: key) }
        }
        // In this turn delivery takes back the messages that no handler has started.
        try? await self.loop.run {}
        // The event comes when no handler starts any more, so that a handler may hold its answer back until then.
        self.agent.hub.emit(.stopping)
        let began = MonotonicInstant.now()
        for (key, _) in installations {
            await self.agent.runtime.wait(for: .calls(of: key), within: max(.zero, grace - (.now() - began)))
        }
        // A store that cannot be written must not hold up the stop; that loses a verdict, not a message.
        await self.agent.runtime.wait(for: .writing, within: grace)
        _ = try? await self.loop.run { link.value.disconnect() }
    }
}

extension MQTTEndpoint {
    /// Whether both endpoints have one MQTT session: another topic, or another installation, is another session.
    fileprivate func isSamePlace(as other: MQTTEndpoint) -> Bool {
        self.installationID == other.installationID && self.mqttTopic == other.mqttTopic
    }

    /// Whether the broker would answer both alike, as long as nothing changes there.
    fileprivate func isSameAccess(as other: MQTTEndpoint) -> Bool {
        self.host == other.host && self.portTCP == other.portTCP && self.portSSL == other.portSSL
            && self.portWS == other.portWS && self.portWSS == other.portWSS
            && self.username == other.username && self.password == other.password
    }
}
