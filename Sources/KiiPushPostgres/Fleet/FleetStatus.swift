#if Postgres
import KiiPushCore

/// How a fleet stands, at one moment.
public struct FleetStatus: Sendable, Hashable {
    /// One gateway, that lives or has lived.
    public struct Gateway: Sendable, Hashable {
        /// Which of the fleet's databases it is one of, from 0; one process is a gateway of each.
        public var database: Int
        /// Its name.
        public var name: String
        /// The machine of its last process.
        public var host: String
        /// The ID of its last process there.
        public var processID: Int
        /// Whether its lease goes on.
        public var isAlive: Bool
        /// Whether it hands over all that it has.
        public var isDraining: Bool
        /// How many of the 1,024 shards it has.
        public var shards: Int
        /// How many agents are declared for these.
        public var agents: Int
        /// How many messages wait there for a handler, or for another attempt, or are with a handler.
        public var unhandled: Int
        /// How long ago the oldest of these was received, by its gateway's clock; `nil` where there are none.
        public var lag: Duration?
        /// How often it was declared dead by others.
        public var timesDeclaredDead: Int
        /// How many shards of dead gateways it has declared free.
        public var shardsTakenOver: Int
    }

    /// The gateways, by their databases and their names.
    public var gateways: [Gateway]
    /// How many shards nobody has: for a moment while they are handed over, or since no gateway lives.
    public var freeShards: Int
    /// How many agents are declared for these.
    public var agentsWithoutGateway: Int
    /// Why a database could not be asked; nothing here is of that one.
    public var unreachable: [Int: String] = [:]

    init(_ connection: BlockingPostgres, database: Int) throws(InboxError) {
        let rows = try connection.rows(Self.question, step: "reading the fleet")
        self.gateways = (0..<rows.count).filter { !rows.isNull($0, 0) }.map { row in
            Gateway(
                database: database, name: rows.text(row, 0) ?? "", host: rows.text(row, 1) ?? "",
                processID: Int(rows.integer(row, 2)),
                isAlive: rows.integer(row, 3) != 0, isDraining: rows.integer(row, 4) != 0,
                shards: Int(rows.integer(row, 5)), agents: Int(rows.integer(row, 6)),
                unhandled: Int(rows.integer(row, 7)),
                lag: rows.optionalInteger(row, 8).map { .milliseconds(max(0, $0)) },
                timesDeclaredDead: Int(rows.integer(row, 9)), shardsTakenOver: Int(rows.integer(row, 10)))
        }
        let free = (0..<rows.count).first { rows.isNull($0, 0) }
        self.freeShards = free.map { Int(rows.integer($0, 5)) } ?? 0
        self.agentsWithoutGateway = free.map { Int(rows.integer($0, 6)) } ?? 0
    }

    mutating func add(_ other: FleetStatus) {
        self.gateways += other.gateways
        self.freeShards += other.freeShards
        self.agentsWithoutGateway += other.agentsWithoutGateway
    }

    /// What waits for a handler, or for another attempt, or is with a handler, by installation.
    static let unhandled = """
        kii_push.installation CROSS JOIN LATERAL (
            SELECT received_ms FROM kii_push.message WHERE message.installation = installation.key AND state = 0
            UNION ALL
            SELECT received_ms FROM kii_push.message
            WHERE message.installation = installation.key AND state BETWEEN 1 AND 2
        ) AS unhandled
        """

    private static let question = """
        SELECT gateway.name, gateway.host, gateway.process, (gateway.alive_until > clock_timestamp())::integer,
            gateway.is_draining::integer, held.shards, held.agents, held.messages,
            kii_push.now_ms() - held.oldest, gateway.declared_dead, gateway.taken_over
        FROM (
            SELECT shard.gateway, count(*) AS shards,
                sum((SELECT count(*) FROM kii_push.agent WHERE agent.shard = shard.id AND NOT is_leaving))::bigint
                    AS agents,
                sum(open.messages)::bigint AS messages, min(open.oldest) AS oldest
            FROM kii_push.shard CROSS JOIN LATERAL (
                SELECT count(*) AS messages, min(unhandled.received_ms) AS oldest
                FROM \(Self.unhandled) WHERE installation.shard = shard.id) AS open
            GROUP BY shard.gateway
        ) AS held FULL JOIN kii_push.gateway ON gateway.id = held.gateway
        ORDER BY gateway.name
        """
}
#endif
