#if Postgres
public import KiiPushCore

extension PushRuntime {
    /// A runtime that is one gateway of a fleet. It keeps its messages in the fleet's database, and receives for the
    /// agents of its share (``receive(handler:observer:tell:)``).
    ///
    /// - Parameters:
    ///   - store: the fleet's messages: one database.
    ///   - gateway: the gateway's name, which one process has at a time. After a process was killed, the next one waits
    ///     until the former lease is over, 10 s at most.
    ///   - configuration: as for any runtime, but ``Configuration/inbox`` and ``Bounds/handledKeptBytes`` have no
    ///     effect, and the state directory holds only badges and the control socket.
    /// - Throws: As ``init(configuration:)``.
    public convenience init(
        _ store: FleetStore, gateway: String, configuration: Configuration = Configuration()
    ) throws {
        try self.init(store, gateway: gateway, configuration: configuration, lease: .seconds(10))
    }

    package convenience init(
        _ store: FleetStore, gateway: String, configuration: Configuration, lease: Duration
    ) throws {
        guard AgentStateFile.isValidName(gateway) else {
            throw PushAgentError.invalidConfiguration(
                setting: "gateway", reason: "has to be 1 to 64 of letters, digits, -, _ and ., not beginning with .")
        }
        guard let target = store.targets.first, store.isOne else {
            throw PushAgentError.invalidConfiguration(
                setting: "store",
                reason:
                    "names \(store.targets.count) databases; a runtime has one, and 'Fleet.receive' a runtime for each")
        }
        try self.init(
            configuration: configuration, sharing: GatewayStore(target, gateway: gateway, lease: lease))
    }

    /// Receives for the agents of this gateway's share of the fleet, until the task is cancelled.
    ///
    /// ``Fleet`` declares agents, and the live gateways share them. A new gateway takes its share from the others: they
    /// stop an agent before they hand it over, so that nothing is handled twice. If a gateway dies, the others have its
    /// agents within 15 s. Messages that were in hand there are handled again.
    ///
    /// While the database cannot be reached, the gateway acknowledges nothing, and after 8 s all agents stop. They
    /// continue when it can be reached again, unless others have taken over meanwhile. If an agent cannot continue, the
    /// gateway reports the reason and restarts the agent; the others receive meanwhile. Cancellation stops all agents
    /// as ``PushAgent/run()`` says, and hands over all shards.
    ///
    /// - Parameters:
    ///   - handler: makes the handler of the agent with this name. Called on any thread whenever the agent starts.
    ///   - observer: gets each agent's events, as with ``PushAgent/observe(_:)``.
    ///   - tell: gets the gateway's events. Called on any thread, which it must not block.
    /// - Throws: ``PushAgentError``: `leaseLost`, `gatewayInUse`, `alreadyRunning`, `inbox`. `leaseLost` means that
    ///   others have taken over, or that the database is older than its earlier contents. The process should then end,
    ///   so that none of its handlers runs beside theirs. `inbox` means an unusable database. A database that cannot be
    ///   reached does not throw: the gateway tries again every second.
    public func receive(
        handler: @escaping @Sendable (_ agent: String) -> any NotificationHandler,
        observer: @escaping @Sendable (_ agent: String, PushEvent) -> Void = { _, _ in },
        tell: @escaping @Sendable (FleetEvent) -> Void = { _ in }
    ) async throws {
        guard let shared = self.shared as? GatewayStore else {
            throw PushAgentError.invalidConfiguration(setting: "store", reason: "has to be a fleet's")
        }
        let isFree = shared.isReceiving.withLock { isReceiving in
            defer { isReceiving = true }
            return !isReceiving
        }
        guard isFree else { throw PushAgentError.alreadyRunning }
        defer { shared.isReceiving.withLock { $0 = false } }
        do {
            try await self.open(shared, tell)
            guard let store = shared.postgres else { return }
            try await FleetReception(
                self, store, gateway: shared.gateway, handlers: handler, observer: observer, tell: tell
            ).run()
        } catch is CancellationError {
            // Cancellation is the regular end.
        } catch let error as TransportError where error.code == .shutDown {
            // The end of the runtime is regular too.
        }
    }

    private func open(_ shared: GatewayStore, _ tell: @Sendable (FleetEvent) -> Void) async throws {
        var told: String?
        while true {
            do {
                _ = try await self.locksStateDirectory()
                if told != nil { tell(.databaseRecovered) }
                return
            } catch PushAgentError.inbox(let reason) where shared.isAway {
                if told != reason { tell(.databaseFailed(reason: reason)) }
                told = reason
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
#endif
