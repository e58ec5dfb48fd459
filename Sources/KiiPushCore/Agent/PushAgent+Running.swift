extension PushAgent {
    /// Makes the agent known to the cloud and has the broker keep a session for it, so that pushes queue from here on.
    ///
    /// It signs in, and first makes the pseudo user, user or thing where the account says so. Then it makes or adopts
    /// the installation, fetches the broker's endpoint, and opens the MQTT session once. It skips the steps that an
    /// earlier call has taken and that still hold.
    ///
    /// - Parameter replacing: discards the registration on file and begins anew. A pseudo user is lost by that. If the
    ///   user or thing is the same, the next run delivers the messages of the former installation that no handler has
    ///   finished. Otherwise they wait until `kii-push inbox adopt`. Default: no.
    /// - Throws: ``PushAgentError``; ``KiiInputError`` for a subscription or an installation that can never be made, before
    ///   anything is sent; ``TransportError`` and ``KiiError`` when cloud or broker cannot be reached now; `CancellationError`.
    @discardableResult
    public func register(replacing: Bool = false) async throws -> Registration {
        try await self.exclusively {
            try self.requireUsableConfiguration()
            if replacing {
                // Another process may be receiving with this state: this one takes the lock before it discards
                // anything.
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

    /// Opens the MQTT session of an endpoint once, and closes the connection. Returns the end of a connection that the
    /// broker refused, or that failed.
    private func openOnce(_ endpoint: MQTTEndpoint) async throws -> BrokerLink.End? {
        let core = try await self.runtime.open()
        let lock = try self.lockInstallation(endpoint)
        defer { withExtendedLifetime(lock) {} }
        return try await AgentSession(agent: self, core: core, endpoint: endpoint).openOnce(endpoint)
    }

    /// Receives until the task is cancelled: registers where needed, connects, subscribes, hands messages to the
    /// handler, and reconnects after every loss.
    ///
    /// The agent retries temporary failures of cloud, broker and network without end, and reports them in ``events``.
    /// It also retries subscriptions that the cloud refuses, such as one to a topic that does not exist yet. The same
    /// goes for an inbox or a lock that it cannot open for want of disk space or descriptors.
    ///
    /// Cancellation stops gracefully. The agent takes no more messages, running handlers get
    /// ``PushRuntime/Configuration/shutdownGrace``, their answers are stored, and the agent disconnects from the
    /// broker.
    ///
    /// An agent with a ``MessageFeed`` receives from the feed, and opens neither a connection nor the inbox. It calls
    /// the handler by the same rules, also for alerts. `run` returns when the feed ends.
    ///
    /// - Throws: ``PushAgentError``, or a ``KiiError`` that will not pass, when only a person can help;
    ///   ``KiiInputError`` for a subscription or an installation that can never be made, before anything is sent;
    ///   errors of the feed. Returns normally when cancelled, and when the runtime is shut down meanwhile.
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
                // The end of the runtime ends a run, too.
            } catch {
                failure = error
            }
            // This is the last chance to write changes that a full disk kept off the file; the loop may be gone.
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
                // If one task fails, the other ends: the reception ends gracefully.
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let reception = ended { return reception }
                }
                throw CancellationError()
            }
        }
    }

    /// The end of the reception as one installation: the endpoint of the next installation, and the policy's new state.
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

    /// Returns the endpoint; retries temporary failures until the cloud gives it.
    private func enrol(_ policy: inout ReconnectPolicy) async throws -> MQTTEndpoint {
        while true {
            do {
                var endpoint = try await self.enrolment.endpoint()
                if !TransportChoice(self.configuration, remembersWebSocket: false).hasPort(at: endpoint) {
                    // The endpoint on file may be out of date; the cloud's answer is final.
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

    /// Opens files; retries while disk space or descriptors are short.
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

    private func pause(after failure: TemporaryFailure, _ policy: inout ReconnectPolicy) async throws {
        let mark = self.runtime.waits.mark
        let decision = policy.connectionEnded(.attemptFailed, connectedFor: nil, retryAfter: failure.retryAfter)
        self.hub.emit(.disconnected(reason: failure.reason, retryIn: decision.delay))
        try await self.runtime.waits.pass(decision, policy, since: mark)
    }

    /// The lock that keeps two processes of one user from receiving as one installation; `nil` with a shared store,
    /// which keeps processes on all machines apart.
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

struct TemporaryFailure {
    var reason: String
    var retryAfter: Duration?

    init(reason: String) { self.reason = reason }

    /// Returns `nil` for an error that only a person can mend.
    init?(_ error: any Error) {
        switch error {
        case let error as TransportError where error.code != .invalidConfiguration && error.code != .shutDown:
            self.reason = error.description
        case let error as KiiError where error.isTransient:
            self.reason = "\(error)"
            self.retryAfter = error.retryAfter
        case let error as KiiResponseError:
            // The answer is not the cloud's: it is a proxy's error page, or a network asks for a sign-in.
            self.reason = "\(error)"
        default: return nil
        }
    }
}
