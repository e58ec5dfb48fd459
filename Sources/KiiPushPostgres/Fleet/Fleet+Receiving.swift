#if Postgres
public import KiiPushCore

extension Fleet {
    /// Receives as one gateway of the fleet until the task is cancelled. It works as
    /// ``PushRuntime/receive(handler:observer:tell:)``, with one runtime for each database. If a database cannot be
    /// reached, the runtimes of the others continue.
    ///
    /// - Parameters:
    ///   - gateway: as for ``PushRuntime/init(_:gateway:configuration:)``.
    ///   - configuration: of each runtime. The bounds apply to each runtime separately. The second database has the
    ///     state directory `database-2` inside the configured directory, and so on.
    ///   - handler: returns the handler of the agent with this name. Called on any thread whenever the agent starts.
    ///   - observer: gets each agent's events.
    ///   - tell: gets the gateway's events, with the number of the database, from 0. Called on any thread. It must not
    ///     block.
    /// - Throws: As ``PushRuntime/receive(handler:observer:tell:)`` and ``PushRuntime/init(_:gateway:configuration:)``,
    ///   after all agents have stopped.
    public func receive(
        as gateway: String, configuration: PushRuntime.Configuration = PushRuntime.Configuration(),
        handler: @escaping @Sendable (_ agent: String) -> any NotificationHandler,
        observer: @escaping @Sendable (_ agent: String, PushEvent) -> Void = { _, _ in },
        tell: @escaping @Sendable (_ database: Int, FleetEvent) -> Void = { _, _ in }
    ) async throws {
        guard Set(self.store.targets).count == self.store.targets.count else {
            throw PushAgentError.invalidConfiguration(setting: "store", reason: "names a database twice")
        }
        guard !self.store.targets.isEmpty else {
            throw PushAgentError.invalidConfiguration(setting: "store", reason: "names no database")
        }
        var runtimes: [PushRuntime] = []
        var failure: (any Error)?
        do {
            for (place, target) in self.store.targets.enumerated() {
                var configuration = configuration
                if place > 0 { configuration.stateDirectory += "/database-\(place + 1)" }
                runtimes.append(try PushRuntime(.postgres(target), gateway: gateway, configuration: configuration))
            }
            try await withThrowingTaskGroup(of: Void.self) { [runtimes] group in
                for (place, runtime) in runtimes.enumerated() {
                    group.addTask {
                        try await runtime.receive(handler: handler, observer: observer, tell: { tell(place, $0) })
                    }
                }
                // The first error ends all runtimes.
                for try await _ in group {}
            }
        } catch {
            failure = error
        }
        for runtime in runtimes { await runtime.shutdown() }
        if let failure { throw failure }
    }
}

/// An event of a gateway. New cases may be added.
public enum FleetEvent: Sendable, Hashable {
    /// The gateway's number of shards or agents has changed, or the number of gateways. Also reported when the lease is
    /// renewed after a failure. Each database has 1,024 shards, which the gateways divide among themselves.
    case holding(shards: Int, agents: Int, gateways: Int)
    /// Other gateways' leases had ended, and this gateway has freed this number of their shards. Messages whose
    /// handlers were running on those gateways are handled again.
    case tookOver(shards: Int)
    /// The database cannot be reached, or refuses the gateway. The gateway acknowledges no messages, and tries again
    /// unless the error ends `receive`. Reported again for another reason, and after a recovery.
    case databaseFailed(reason: String)
    /// The database refuses to let the gateway read the declared agents, remove an agent, or carry out requests of
    /// `kii-push-gateway inbox`. The gateway tries again. Reported again for another reason, and after a success.
    case refused(reason: String)
    /// The database works again.
    case databaseRecovered
    /// The lease was not renewed in time, so other gateways may take over: all agents stop. The agents start again if
    /// the lease is renewed before another gateway has taken over.
    case leaseOver
    /// An agent failed. The gateway restarts the agent after `retryIn`. `nil` means that the gateway cannot use the
    /// agent's declaration: replace the declaration.
    case agentFailed(name: String, reason: String, retryIn: Duration?)
}
#endif
