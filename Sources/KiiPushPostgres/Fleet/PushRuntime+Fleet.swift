#if Postgres
public import KiiPushCore

extension PushRuntime {
    /// A runtime that is one gateway of a fleet: it keeps its messages in the fleet's database, and receives for the agents
    /// of its share (``receive(handler:observer:tell:)``).
    ///
    /// - Parameters:
    ///   - store: where the fleet keeps its messages: one database.
    ///   - gateway: the gateway's name, which one process has at a time. After a process that was killed, the next one waits
    ///     until the lease of the former is over, 10 s at most.
    ///   - configuration: as for any runtime, but that ``Configuration/inbox`` is of no account, and that the state directory
    ///     holds badges and the control socket alone. ``Bounds/handledKeptBytes`` is of no account.
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
    /// Agents are declared with ``Fleet``, and spread over the gateways that live. One that begins takes its share, which the
    /// others hand over: they stop the agent first, so that nothing is handled twice. If a gateway dies, the others have
    /// its agents within 15 s. What was in hand there is handled again.
    ///
    /// While the database cannot be reached nothing is acknowledged, and after 8 s all agents stop. They go on when it can
    /// be reached again, unless others have taken over meanwhile. What an agent cannot go on for is told, and it is started
    /// again; the others receive meanwhile. Cancellation stops all agents as ``PushAgent/run()`` says, and hands over
    /// all shards.
    ///
    /// - Parameters:
    ///   - handler: makes the handler of an agent, whose name it gets. Called whenever the agent starts, on any thread.
    ///   - observer: hears what happens to each agent, as with ``PushAgent/observe(_:)``.
    ///   - tell: hears what happens to the gateway. Called on any thread, which it must not block.
    /// - Throws: ``PushAgentError``: `leaseLost` when others have taken over, or when the database is older than what was stored in it,
    ///   after which the process should end, so that no handler of it runs beside theirs; `gatewayInUse`; `alreadyRunning`; `inbox` for a database that cannot be used, but not for one that
    ///   cannot be reached, which is tried again every second.
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
            // Being cancelled is how it ends.
        } catch let error as TransportError where error.code == .shutDown {
            // And so is the end of the runtime.
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
