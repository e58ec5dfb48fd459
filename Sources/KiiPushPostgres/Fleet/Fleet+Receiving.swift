#if Postgres
public import KiiPushCore

extension Fleet {
    /// Receives as one gateway of the fleet, until the task is cancelled: as ``PushRuntime/receive(handler:observer:tell:)``
    /// does, with a runtime for each database. While one of them cannot be reached the others go on.
    ///
    /// - Parameters:
    ///   - gateway: as for ``PushRuntime/init(_:gateway:configuration:)``.
    ///   - configuration: of each runtime. What it bounds it bounds for each. The state directory of a database but the first
    ///     is `database-2` there, and so on.
    ///   - handler: makes the handler of an agent, whose name it gets. Called whenever the agent starts, on any thread.
    ///   - observer: hears what happens to each agent.
    ///   - tell: hears what happens to the gateway, and with which database, from 0. Called on any thread, which it must not
    ///     block.
    /// - Throws: As ``PushRuntime/receive(handler:observer:tell:)`` and ``PushRuntime/init(_:gateway:configuration:)``. All
    ///   agents have stopped then.
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
                // The first that fails ends the others.
                for try await _ in group {}
            }
        } catch {
            failure = error
        }
        for runtime in runtimes { await runtime.shutdown() }
        if let failure { throw failure }
    }
}

/// What happened to a gateway among others. New cases may be added.
public enum FleetEvent: Sendable, Hashable {
    /// The gateway has another number of shards, or of agents, or there are more gateways or fewer. Of 1,024 shards each
    /// gateway has its share.
    case holding(shards: Int, agents: Int, gateways: Int)
    /// The leases of other gateways had ended, and this one has declared so many of their shards free. What was in hand
    /// there is handled again.
    case tookOver(shards: Int)
    /// The database cannot be reached, or refuses the gateway, for this reason: nothing is acknowledged. It is tried again.
    /// Told once for each reason.
    case databaseFailed(reason: String)
    /// The database refuses something other than messages, for this reason: reading which agents are declared, removing one,
    /// or carrying out what `kii-push inbox` asks for. It is tried again. Told once for each reason.
    case refused(reason: String)
    /// The database works again.
    case databaseRecovered
    /// The lease was not renewed in time, so that others may take over: all agents stop. They start again should the lease
    /// be renewed before others have.
    case leaseOver
    /// An agent could not go on, for this reason; it is started again after `retryIn`, or, where that is `nil`, when it is
    /// declared anew.
    case agentFailed(name: String, reason: String, retryIn: Duration?)
}
#endif
