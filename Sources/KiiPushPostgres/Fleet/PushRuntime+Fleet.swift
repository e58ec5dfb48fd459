#if Postgres
public import KiiPushCore

extension PushRuntime {
    /// Creates a runtime that is one gateway of a fleet. It stores its messages in the fleet's database, and receives
    /// for the agents of its share (``receive(handler:observer:tell:)``).
    ///
    /// - Parameters:
    ///   - store: the fleet's store, with a single database.
    ///   - gateway: the gateway's name. Only one process can have it. If that process was killed, a new process with
    ///     the name waits for the end of the killed process's lease, 10 s at most.
    ///   - configuration: as for any runtime. ``Configuration/inbox`` and ``Bounds/handledKeptBytes`` have no effect.
    ///     The state directory holds only badges, a lock file and the control socket.
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
    /// ``Fleet`` declares agents, and the live gateways share them. A new gateway takes its share from the others. The
    /// old gateway stops an agent before the new gateway starts it, so that no message has two handlers at once. If a
    /// gateway dies, the others run its agents within 15 s. Messages whose handlers were running on the dead
    /// gateway are handled again.
    ///
    /// While the database cannot be reached, the gateway acknowledges no messages, and after 8 s all agents stop. They
    /// start again when the database can be reached, unless other gateways have taken over. If an agent fails, the
    /// gateway reports the reason and, if it can, restarts the agent. Cancellation stops all agents as
    /// ``PushAgent/run()`` says, and hands over all shards.
    ///
    /// - Parameters:
    ///   - handler: returns the handler of the agent with this name. Called on any thread whenever the agent starts.
    ///   - observer: gets each agent's events, as with ``PushAgent/observe(_:)``.
    ///   - tell: gets the gateway's events. Called on any thread. It must not block.
    /// - Throws: ``PushAgentError``: `leaseLost` if other gateways have taken over, or if the database was replaced by
    ///   older contents. The process should then end, so that its handlers do not run beside another gateway's. `inbox`
    ///   and `invalidConfiguration` for an unusable database. `gatewayInUse` and `alreadyRunning`. A database that
    ///   cannot be reached throws no error: the gateway tries again.
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
        } catch let error as TransportError where error.code == .shutDown {
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
