extension PushAgent {
    /// Registers the agent with the cloud and opens its session at the broker, so that pushes queue from then on.
    ///
    /// The agent signs in, and first creates the user or thing if necessary (``KiiAccount``). It makes or adopts the
    /// installation, fetches the broker's endpoint, and connects. It skips steps whose results are on file, except for
    /// the endpoint.
    ///
    /// - Parameter replacing: whether to discard the registration on file and begin anew. A pseudo user is then lost.
    ///   If the user or thing stays the same, the agent's next run delivers unfinished messages of the old
    ///   installation. If the user or thing changes, the messages wait for `kii-push inbox adopt`. Default: no.
    /// - Throws: ``PushAgentError``; ``KiiInputError`` for an invalid subscription or installation member;
    ///   ``TransportError`` and ``KiiError`` if the cloud or the broker fails; `CancellationError`.
    @discardableResult
    public func register(replacing: Bool = false) async throws -> Registration {
        try await self.exclusively {
            try self.requireUsableConfiguration()
            if replacing {
                // Locks the state directory first, since another process may be receiving with it.
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

    private func openOnce(_ endpoint: MQTTEndpoint) async throws -> BrokerLink.End? {
        let core = try await self.runtime.open()
        let lock = try self.lockInstallation(endpoint)
        defer { withExtendedLifetime(lock) {} }
        return try await AgentSession(agent: self, core: core, endpoint: endpoint).openOnce(endpoint)
    }

    /// Receives until the task is cancelled: registers if necessary, connects, subscribes, calls the handler, and
    /// reconnects after a loss.
    ///
    /// The agent retries temporary failures without limit, and reports them in ``events``. It also retries
    /// subscriptions that the cloud refuses, and opening files after a temporary error, such as a full disk.
    ///
    /// Cancellation stops the agent gracefully: running handlers get ``PushRuntime/Configuration/shutdownGrace``, and
    /// the agent stores their answers and disconnects. Then `run` returns normally, as it does if the runtime is shut
    /// down.
    ///
    /// With a ``MessageFeed``, the agent opens neither a connection to the broker nor the inbox. `run` returns when the
    /// feed ends.
    ///
    /// - Throws: ``PushAgentError``, ``KiiError`` or ``TransportError`` for a failure that only a person can mend;
    ///   ``KiiInputError`` for an invalid subscription or installation member; errors of the feed.
    public func run() async throws {
        try await self.exclusively {
            try self.requireUsableConfiguration()
            if let feed = self.feed { return try await feed.deliver(self) }
            var failure: (any Error)?
            do {
                try await self.receive()
            } catch is CancellationError {
                // Cancellation ends a run normally.
            } catch let error as TransportError where error.code == .shutDown {
                // A shutdown of the runtime ends a run normally.
            } catch {
                failure = error
            }
            // The last chance to write changes that could not be written before.
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

    /// The folder in which a cloud on this machine finds its receivers; `nil` for a cloud elsewhere.
    private var receiverFolder: ReceiverFolder? {
        guard self.configuration.app.origin?.isLoopback ?? false else { return nil }
        let directory = self.runtime.configuration.environment.runtimeDirectory
        return ReceiverFolder(in: directory ?? RuntimeDirectory.standard())
    }

    /// Receives as one installation after another, since the cloud may replace the installation.
    private func receive(
        at first: MQTTEndpoint, _ core: PushRuntime.Core, _ policy: inout ReconnectPolicy
    ) async throws {
        var endpoint: MQTTEndpoint? = first
        while let current = endpoint {
            let before = policy
            // Each installation subscribes anew: the next one may belong to another user.
            (endpoint, policy) = try await withThrowingTaskGroup(of: Reception?.self) { group in
                group.addTask {
                    var policy = before
                    return (try await self.receiveAsInstallation(of: current, core, &policy), policy)
                }
                group.addTask {
                    try await self.keepSubscribed()
                    return nil
                }
                // A normal return waits for the group's other task, so that task must be cancelled.
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let reception = ended { return reception }
                }
                throw CancellationError()
            }
        }
    }

    private typealias Reception = (endpoint: MQTTEndpoint?, policy: ReconnectPolicy)

    /// Receives as one installation, whose topic may change.
    ///
    /// - Returns: the endpoint of another installation; `nil` to stop.
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

    /// Retries `open` after a temporary error, such as a full disk.
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

    /// Keeps this user's other processes from receiving as the same installation. Returns `nil` with a shared store,
    /// which has its own lock.
    func lockInstallation(_ endpoint: MQTTEndpoint) throws(PushAgentError) -> InstallationLock? {
        guard self.runtime.shared == nil else { return nil }
        let configuration = self.runtime.configuration
        let directory = Result { () throws(FileError) in
            try StateDirectory.locks(
                shared: configuration.environment.lockDirectory, in: configuration.stateDirectory)
        }
        return try InstallationLock(
            installationID: endpoint.installationID, directory: try directory.mapError(PushAgentError.file).get())
    }
}

struct TemporaryFailure {
    var reason: String
    var retryAfter: Duration?

    init(reason: String) { self.reason = reason }

    /// Returns `nil` for an error that is not known to pass by itself.
    init?(_ error: any Error) {
        switch error {
        case let error as TransportError where error.code != .invalidConfiguration && error.code != .shutDown:
            self.reason = error.description
        case let error as KiiError where error.isTransient:
            self.reason = "\(error)"
            self.retryAfter = error.retryAfter
        case let error as KiiResponseError:
            // Perhaps a proxy's error page, or a network's sign-in page.
            self.reason = "\(error)"
        default: return nil
        }
    }
}
