extension PushAgent {
    /// Makes the agent known to the cloud and has the broker keep a session for it, so that pushes queue from here on.
    ///
    /// Signs in (making the pseudo user, user or thing where the account says so), makes or adopts the installation,
    /// fetches the broker's endpoint, and opens the MQTT session once. What was done before and still holds is not done
    /// again.
    ///
    /// - Parameter replacing: forgets what is on file and begins anew. A pseudo user is lost by that. Messages of the
    ///   former installation that no handler has finished are the next run's if the user or thing is the same, and else
    ///   wait until `kii-push inbox adopt`. Default: no.
    /// - Throws: ``PushAgentError``; ``KiiInputError`` for a subscription or an installation that can never be made, before
    ///   anything is sent; ``TransportError`` and ``KiiError`` when cloud or broker cannot be reached now; `CancellationError`.
    @discardableResult
    public func register(replacing: Bool = false) async throws -> Registration {
        try await self.exclusively {
            try self.requireUsableConfiguration()
            if replacing {
                // Another process may be receiving with what is on file: nothing of that is given up before the lock
                // is ours.
                _ = try await self.runtime.open()
                self.enrolment.forget()
            } else {
                try self.enrolment.load()
            }
            var endpoint = try await self.enrolment.endpoint(refreshing: true)
            if self.enrolment.current?.hasSession != true {
                if let refusal = try await self.openOnce(endpoint) {
                    guard refusal.refusesEndpoint else { throw refusal.error }
                    endpoint = try await self.enrolment.endpoint(refreshing: true)
                    if let end = try await self.openOnce(endpoint) { throw end.error }
                }
            }
            guard let registration = self.enrolment.current?.registration else {
                throw PushAgentError.file(.malformed(path: self.configuration.name, reason: "the registration is gone"))
            }
            if let failure = self.enrolment.store.failure { throw PushAgentError.file(failure) }
            self.hub.emit(.registered(registration))
            return registration
        }
    }

    /// Opens the MQTT session of an endpoint once, and closes the connection. Returns why it was refused.
    private func openOnce(_ endpoint: MQTTEndpoint) async throws -> BrokerLink.End? {
        let core = try await self.runtime.open()
        let lock = try self.lockInstallation(endpoint)
        defer { withExtendedLifetime(lock) {} }
        return try await AgentSession(agent: self, core: core, endpoint: endpoint).openOnce(endpoint)
    }

    /// Receives until the task is cancelled: registers where needed, connects, subscribes, hands messages to the
    /// handler, and reconnects after every loss.
    ///
    /// Temporary failures of cloud, broker and network are retried without end and told by ``events``, and so are
    /// subscriptions that the cloud refuses, such as one to a topic that is not there yet, and an inbox or a lock that
    /// cannot be opened for want of room on the disk or of descriptors. Cancellation stops gracefully: no more messages are
    /// taken, running handlers get ``PushRuntime/Configuration/shutdownGrace``, what they answered is stored, and the
    /// broker is told.
    ///
    /// An agent with a ``MessageFeed`` receives from the feed, and opens neither a connection nor the inbox. It calls
    /// the handler by the same rules, also for alerts. `run` returns when the feed ends.
    ///
    /// - Throws: ``PushAgentError``, or a ``KiiError`` that will not pass, when only a person can help; ``KiiInputError``
    ///   for a subscription or an installation that can never be made, before anything is sent; errors of the feed. Returns normally when
    ///   cancelled, and when the runtime is shut down meanwhile.
    public func run() async throws {
        try await self.exclusively {
            try self.requireUsableConfiguration()
            if let feed = self.feed { return try await feed.deliver(self) }
            var failure: (any Error)?
            do {
                try await self.receive()
            } catch is CancellationError {
                // Being cancelled is how a run ends.
            } catch let error as TransportError where error.code == .shutDown {
                // And so is the end of the runtime.
            } catch {
                failure = error
            }
            // The last chance for what a full disk kept from being written; the loop may be gone.
            try? await self.enrolment.store.saveIfNeeded()
            await self.keptBadge.saveIfNeeded()
            if let failure { throw failure }
        }
    }

    private func receive() async throws {
        if self.runtime.configuration.environment.isActivated() {
            let reason =
                "the push that started this program waits for an agent with the feed of KiiPushActivation, and this one "
                + "receives from the broker; pass it that feed, or start it without \(MessageFeed.launchVariable)"
            self.hub.emit(.notice(.launchIgnored, reason: reason))
        }
        var policy = ReconnectPolicy(configuration: self.reconnect)
        let core = try await self.opening(&policy) { try await self.runtime.open() }
        core.control?.attach(self.hub, announcedIn: self.receiverFolder)
        defer { core.control?.detach(self.hub) }
        for event in core.events { self.hub.emit(event) }
        try self.enrolment.load()
        let endpoint = try await self.enrol(&policy)
        try await self.receive(at: endpoint, core, &policy)
    }

    /// The folder in which a cloud on this machine looks for its receivers; `nil` with another cloud.
    private var receiverFolder: ReceiverFolder? {
        guard self.configuration.app.origin?.isLoopback ?? false else { return nil }
        let directory = self.runtime.configuration.environment.runtimeDirectory
        return ReceiverFolder(in: directory ?? RuntimeDirectory.standard())
    }

    /// Receives as one installation after another; mostly there is only one.
    private func receive(
        at first: MQTTEndpoint, _ core: PushRuntime.Core, _ policy: inout ReconnectPolicy
    ) async throws {
        var endpoint: MQTTEndpoint? = first
        while let current = endpoint {
            let before = policy
            // Another installation may belong to another user, so it subscribes anew.
            (endpoint, policy) = try await withThrowingTaskGroup(of: Reception?.self) { group in
                group.addTask {
                    var policy = before
                    return (try await self.receiveAsInstallation(of: current, core, &policy), policy)
                }
                group.addTask {
                    try await self.keepSubscribed()
                    return nil
                }
                // Whichever fails ends the other: the reception in its graceful way.
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let reception = ended { return reception }
                }
                throw CancellationError()
            }
        }
    }

    /// How the reception as one installation ended: with the endpoint of the next one, and what the policy has seen.
    private typealias Reception = (endpoint: MQTTEndpoint?, policy: ReconnectPolicy)

    /// Receives on one topic after another of one installation.
    ///
    /// - Returns: the endpoint of another installation; `nil` when the agent is to stop.
    private func receiveAsInstallation(
        of first: MQTTEndpoint, _ core: PushRuntime.Core, _ policy: inout ReconnectPolicy
    ) async throws -> MQTTEndpoint? {
        let lock = try await self.opening(&policy) { () throws(PushAgentError) in try self.lockInstallation(first) }
        defer { withExtendedLifetime(lock) {} }
        var endpoint: MQTTEndpoint? = first
        while let current = endpoint, current.installationID == first.installationID {
            let session = try await self.opening(&policy) {
                try await AgentSession(agent: self, core: core, endpoint: current)
            }
            endpoint = try await session.run(current, policy: &policy)
        }
        return endpoint
    }

    /// The endpoint, however long the cloud takes to give it.
    private func enrol(_ policy: inout ReconnectPolicy) async throws -> MQTTEndpoint {
        while true {
            do {
                var endpoint = try await self.enrolment.endpoint()
                if !TransportChoice(self.configuration, remembersWebSocket: false).hasPort(at: endpoint) {
                    // What is on file may be out of date; what the cloud says is final.
                    endpoint = try await self.enrolment.endpoint(refreshing: true)
                }
                if let registration = self.enrolment.current?.registration { self.hub.emit(.registered(registration)) }
                return endpoint
            } catch {
                guard let failure = self.enrolment.temporaryFailure(error) else { throw error }
                try await self.pause(after: failure, &policy)
            }
        }
    }

    /// Opens files, however long the machine is short of what that takes.
    private func opening<Result: Sendable>(
        _ policy: inout ReconnectPolicy, _ open: () async throws -> Result
    ) async throws -> Result {
        while true {
            do {
                return try await open()
            } catch PushAgentError.file(let error) where error.isTemporary {
                try await self.pause(after: TemporaryFailure(reason: error.description), &policy)
            }
        }
    }

    /// Tells of a failure and waits until it is time to try again.
    private func pause(after failure: TemporaryFailure, _ policy: inout ReconnectPolicy) async throws {
        let mark = self.runtime.waits.mark
        let decision = policy.connectionEnded(.attemptFailed, connectedFor: nil, retryAfter: failure.retryAfter)
        self.hub.emit(.disconnected(reason: failure.reason, retryIn: decision.delay))
        try await self.runtime.waits.pass(decision, policy, since: mark)
    }

    /// The lock that keeps two processes of one user from receiving as one installation; `nil` where the store keeps
    /// processes apart, on whatever machine they are.
    func lockInstallation(_ endpoint: MQTTEndpoint) throws(PushAgentError) -> InstallationLock? {
        guard self.runtime.shared == nil else { return nil }
        let configuration = self.runtime.configuration
        let directory: String
        do throws(FileError) {
            if let lockDirectory = configuration.environment.lockDirectory {
                directory = lockDirectory + "/installations"
                try PrivateFile.makeDirectory(directory)
            } else {
                directory = try StateDirectory.locks(shared: "/tmp", in: configuration.stateDirectory)
            }
        } catch {
            throw .file(error)
        }
        return try InstallationLock(installationID: endpoint.installationID, directory: directory)
    }
}

/// A failure that may pass by itself.
struct TemporaryFailure {
    var reason: String
    var retryAfter: Duration?

    init(reason: String) { self.reason = reason }

    /// `nil` for an error that only a person can do something about.
    init?(_ error: any Error) {
        switch error {
        case let error as TransportError where error.code != .invalidConfiguration && error.code != .shutDown:
            self.reason = error.description
        case let error as KiiError where error.isTransient:
            self.reason = "\(error)"
            self.retryAfter = error.retryAfter
        case let error as KiiResponseError:
            // What answers is not the cloud: a proxy's error page, or a network that asks for a sign-in.
            self.reason = "\(error)"
        default: return nil
        }
    }
}
