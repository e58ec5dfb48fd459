#if Postgres
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
