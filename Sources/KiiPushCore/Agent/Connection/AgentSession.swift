final class AgentSession: Sendable {
    enum Outcome: Sendable {
        case end(BrokerLink.End)
        case stopped
        case connected
        /// The endpoint may have expired: its time has passed, or the clocks have jumped.
        case expired
    }

    private struct Connection {
        var end: BrokerLink.End?
        var isUp = false
        var waiting: OneShot<Outcome>?
        var waitsForUp = false
    }

    let agent: PushAgent
    let core: PushRuntime.Core
    let loop: EventLoop
    let installation: (key: Int64, id: String)
    /// This installation, and others whose stored messages the agent may also deliver.
    let installations: Locked<[(key: Int64, id: String)]>
    private let link: LoopIsolated<BrokerLink>
    private let connection = Locked(Connection())
    private let hasConnected = Locked(false)
    private let choice: Locked<TransportChoice>

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
        // `lostSession`: the agent's topic changed, and the loss of the old topic's session must be reported.
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
                // With `of: nil`, the store keeps the owner that it has on record.
                do {
                    let key = try await loop.ask(core.pipeline) {
                        $0.store.installation(id: id, of: nil, agent: name, completion: $1)
                    }
                    installations.append((key, id))
                } catch let error as InboxError where error.kind == .ofAnother {
                    // Another agent now handles this installation's messages.
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
            // The broker may repeat messages of an earlier connection. The agent can recognise a repeated message only
            // if the store has written the first copy.
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

    /// Connects, waits for the subscription, and disconnects. The broker then keeps a session for the agent.
    ///
    /// - Returns: how the connection ended, if it ended before the subscription.
    func openOnce(_ endpoint: MQTTEndpoint, whileConnected body: () async -> Void = {}) async throws -> BrokerLink.End?
    {
        try self.begin(endpoint)
        var outcome = await self.outcome(untilConnected: true)
        // Nothing retries this attempt later, so try the other port at once.
        if case .end(let end) = outcome, end.wasReached == false, self.choice.withLock({ $0.turn(at: endpoint) }) {
            try self.begin(endpoint)
            let other = await self.outcome(untilConnected: true)
            // If neither port reaches the broker, return the failure at the first port.
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

    /// Receives until the task is cancelled, or until the cloud names another installation or topic.
    ///
    /// - Returns: the endpoint that the cloud named; `nil` if the task was cancelled.
    /// - Throws: ``PushAgentError``, or a lasting error of the cloud or of libcurl.
    func run(_ first: MQTTEndpoint, policy: inout ReconnectPolicy) async throws -> MQTTEndpoint? {
        self.agent.link.withLock { [link = self.link] in $0 = link }
        defer { self.agent.link.withLock { $0 = nil } }
        try await self.takeOver()
        self.agent.desk.beginRestoring()
        let installations = self.installations.withLock { $0 }
        for (key, id) in installations { self.attach(key, id) }
        // Makes the loop take a turn, in which it reports earlier events to the agent's event hub.
        self.loop.submit {}
        let id = self.installation.id
        let runtime = self.agent.runtime
        runtime.adopters.withLock { $0[id] = { [weak self] in self?.adopted($0) } }
        defer {
            runtime.adopters.withLock { $0[id] = nil }
            for (key, _) in self.attached {
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
            // A cancelled task asks the agent to stop.
        } catch {
            await self.stop()
            throw error
        }
        await self.stop()
        return nil
    }

    private func receive(_ first: MQTTEndpoint, policy: inout ReconnectPolicy) async throws -> MQTTEndpoint? {
        var endpoint = first
        var isFetched = false
        // Counts refusals of the subscription in a row. After each, the cloud named the same endpoint.
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
            // If a connection worked before, a person may be replacing its certificate files, so the agent retries.
            if let error = end.configurationError, !self.hasConnected.withLock({ $0 }) { throw error }
            if !end.refusesSubscription { confirmedRefusals = 0 }
            let mark = waits.mark
            let decision = try await self.decision(after: end, at: endpoint, &policy)
            if let takeover = decision.takeover { hub.emit(.notice(.takenOver, reason: takeover)) }
            // The endpoint on file may be out of date. Until the cloud has named an endpoint, ask the cloud after each
            // failed attempt, except during its `Retry-After`.
            let refreshes =
                decision.refreshesEndpoint || (!isFetched && end.connectedFor == nil) || self.isExpired
            var reason = end.reason(decision.pattern)
            // If the agent asks for a new endpoint at once, one event later reports the refusal and the cloud's
            // answer.
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
                    // The cloud gave no endpoint. The broker is another server and may still work, so retry the present
                    // endpoint.
                    reason = isTold ? answer.reason : "\(reason); \(answer.reason)"
                    isTold = false
                }
            }
            // The broker would refuse the unchanged endpoint again, so this retry is not immediate.
            let pause = decision.delay == .zero ? policy.nothingNew() : .zero
            if !isTold || pause > .zero { hub.emit(.disconnected(reason: reason, retryIn: pause)) }
            try await waits.pass(pause, since: waits.mark)
        }
    }

    private var isExpired: Bool { self.agent.enrolment.endpointTimeLeft.map { $0 <= .zero } ?? false }

    /// Waits for the end of the connection. If the endpoint expires meanwhile, asks the cloud for the new one: the
    /// broker may keep an expired topic open although no more messages arrive on it.
    ///
    /// - Returns: the end; or `other`, the cloud's different endpoint, while the connection is still open.
    private func outcome(of endpoint: inout MQTTEndpoint) async throws -> (Outcome, other: MQTTEndpoint?) {
        // The pauses grow even if the cloud repeatedly names expired endpoints.
        var policy = ReconnectPolicy(configuration: self.agent.reconnect)
        var pause = Duration.zero
        while true {
            // Take the mark before reading the calendar: the wait then notices every later change of the calendar.
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

    private func askForEndpoint() async throws -> (endpoint: MQTTEndpoint?, reason: String) {
        do {
            return (try await self.agent.enrolment.endpoint(refreshing: true), "")
        } catch let error as TransportError
            where error.code == .invalidConfiguration && error.curlCode != nil && self.hasConnected.withLock({ $0 })
        {
            // A person may be replacing certificates that worked, so the agent retries.
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

    /// Waits for the end of the connection or the cancellation of the task, and for the subscription if
    /// `untilConnected`. With `timeLeft`, the wait also ends after that time, or if the clocks have jumped since
    /// `mark`.
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
        if !self.loop.submit({}) { outcome.resume(.stopped) }
        async let _: Void = {
            guard let timeLeft else { return }
            await self.agent.runtime.waits.wait(timeLeft, since: mark)
            if !Task.isCancelled { outcome.resume(.expired) }
        }()
        return await outcome.value(onCancel: .stopped)
    }

    private func stop() async {
        let link = self.link
        let grace = self.agent.runtime.configuration.shutdownGrace
        self.agent.runtime.adopters.withLock { $0[self.installation.id] = { _ in } }
        // These calls fail if the whole runtime was shut down. Nothing is left to do then.
        _ = try? await self.loop.run { link.value.stopReading() }
        let installations = self.attached
        _ = try? await self.loop.run { [core] in
            for (key, _) in installations { core.pipeline.value.detach(installation: key) }
        }
        // In this turn of the loop, delivery withdraws the messages that no handler has started.
        try? await self.loop.run {}
        // After this event, no handler starts. A running handler may wait for the event before it answers.
        self.agent.hub.emit(.stopping)
        let began = MonotonicInstant.now()
        for (key, _) in installations {
            await self.agent.runtime.wait(for: .calls(of: key), within: max(.zero, grace - (.now() - began)))
        }
        // If the store cannot write, the stop goes on. The agent may lose an answer, but no message.
        await self.agent.runtime.wait(for: .writing, within: grace)
        _ = try? await self.loop.run { link.value.disconnect() }
    }
}

extension MQTTEndpoint {
    fileprivate func isSamePlace(as other: MQTTEndpoint) -> Bool {
        self.installationID == other.installationID && self.mqttTopic == other.mqttTopic
    }

    fileprivate func isSameAccess(as other: MQTTEndpoint) -> Bool {
        self.host == other.host && self.portTCP == other.portTCP && self.portSSL == other.portSSL
            && self.portWS == other.portWS && self.portWSS == other.portWSS
            && self.username == other.username && self.password == other.password
    }
}
