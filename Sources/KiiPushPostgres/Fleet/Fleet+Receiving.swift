#if Postgres
public import KiiPushCore

extension Fleet {
    /// Receives as one gateway of the fleet, until the task is cancelled. It works as
    /// ``PushRuntime/receive(handler:observer:tell:)``, with a runtime for each database. If one database cannot be
    /// reached, the others continue.
    ///
    /// - Parameters:
    ///   - gateway: as for ``PushRuntime/init(_:gateway:configuration:)``.
    ///   - configuration: of each runtime; its bounds apply to each. The state directory of the second database is
    ///     `database-2` in it, and so on.
    ///   - handler: makes the handler of the agent with this name. Called on any thread whenever the agent starts.
    ///   - observer: gets each agent's events.
    ///   - tell: gets the gateway's events, with the number of the database, from 0. Called on any thread, which it
    ///     must not block.
    /// - Throws: As ``PushRuntime/receive(handler:observer:tell:)`` and ``PushRuntime/init(_:gateway:configuration:)``.
    ///   All agents have stopped then.
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
                // The first failure ends the others.
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
    /// The gateway's number of shards or of agents has changed, or the number of gateways. Of 1,024 shards each gateway
    /// has its share.
    case holding(shards: Int, agents: Int, gateways: Int)
    /// The leases of other gateways had ended, and this one has declared this number of their shards free. Messages
    /// that were in hand there are handled again.
    case tookOver(shards: Int)
    /// The database cannot be reached, or refuses the gateway, for this reason. The gateway acknowledges nothing, and
    /// tries again. Reported once for each reason.
    case databaseFailed(reason: String)
    /// The database refuses work other than messages, for this reason: reading which agents are declared, removing an
    /// agent, or carrying out requests of `kii-push inbox`. The gateway tries again. Reported once for each reason.
    case refused(reason: String)
    /// The database works again.
    case databaseRecovered
    /// The lease was not renewed in time, so other gateways may take over: all agents stop. They start again if the
    /// lease is renewed before others have taken over.
    case leaseOver
    /// An agent could not continue, for this reason. The gateway restarts it after `retryIn`; if that is `nil`, only
    /// when the agent is declared anew.
    case agentFailed(name: String, reason: String, retryIn: Duration?)
}
#endif
