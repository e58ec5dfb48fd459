#if Postgres
import KiiPushCore

/// The state of a fleet at one moment.
public struct FleetStatus: Sendable, Hashable {
    /// One gateway. A stopped gateway is listed for at least a day, a vanished gateway for at least a week.
    public struct Gateway: Sendable, Hashable {
        /// The condition of a gateway.
        public enum Condition: String, Sendable, Hashable {
            /// The gateway's lease is valid.
            case alive
            /// The gateway's lease is over, but its connection to the database exists: the process hangs, or the
            /// database is slow.
            case late
            /// The gateway has handed over its shards and ended.
            case stopped
            /// The gateway's lease and connection are over: the process was killed, or the network failed.
            case gone
        }

        /// The number of the database, from 0. A process is a separate gateway in each database.
        public var database: Int
        /// The gateway's name.
        public var name: String
        /// The machine of the gateway's latest process.
        public var host: String
        /// The process ID of the gateway's latest process.
        public var processID: Int
        /// Whether the gateway is alive, or how it ended.
        public var condition: Condition
        /// The time since the gateway stopped, or since its lease was over; `nil` if the gateway is alive.
        public var endedFor: Duration?
        /// Whether the gateway's lease is valid.
        public var isAlive: Bool { self.condition == .alive }
        /// Whether the gateway has the order to hand over all its shards.
        public var isDraining: Bool
        /// The number of the gateway's shards, of 1,024.
        public var shards: Int
        /// The number of agents that are declared for the gateway's shards.
        public var agents: Int
        /// The number of messages in the gateway's shards that wait for a handler or a retry, or whose handler is
        /// running.
        public var unhandled: Int
        /// The age of the oldest message of ``unhandled``; `nil` if there is none.
        public var lag: Duration?
        /// The number of times that other gateways have declared this gateway dead.
        public var timesDeclaredDead: Int
        /// The number of shards that this gateway has freed because their gateways were dead.
        public var shardsTakenOver: Int
    }

    /// The gateways, sorted by database and name.
    public var gateways: [Gateway]
    /// The number of shards without a gateway, as during a handover or if no gateway is alive.
    public var freeShards: Int
    /// The number of agents that are declared for shards without a gateway.
    public var agentsWithoutGateway: Int
    /// The reasons why databases could not be reached, by the number of the database. All other properties exclude
    /// these databases.
    public var unreachable: [Int: String] = [:]

    init(_ connection: BlockingPostgres, database: Int) throws(InboxError) {
        let rows = try connection.rows(Self.question, step: "reading the fleet")
        self.gateways = (0..<rows.count).filter { !rows.isNull($0, 0) }.map { row in
            Gateway(
                database: database, name: rows.text(row, 0) ?? "", host: rows.text(row, 1) ?? "",
                processID: Int(rows.integer(row, 2)),
                condition: rows.text(row, 3).flatMap(Gateway.Condition.init) ?? .gone,
                endedFor: rows.optionalInteger(row, 11).map { .milliseconds(max(0, $0)) },
                isDraining: rows.integer(row, 4) != 0,
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

    static let unhandled = """
        kii_push.installation CROSS JOIN LATERAL (
            SELECT received_ms FROM kii_push.message WHERE message.installation = installation.key AND state = 0
            UNION ALL
            SELECT received_ms FROM kii_push.message
            WHERE message.installation = installation.key AND state BETWEEN 1 AND 2
        ) AS unhandled
        """

    private static let question = """
        SELECT gateway.name, gateway.host, gateway.process, CASE
                WHEN NOT kii_push.is_over(gateway.alive_until) THEN 'alive' WHEN gateway.stopped_at IS NOT NULL THEN 'stopped'
                WHEN EXISTS (
                    SELECT FROM pg_stat_activity WHERE pid = gateway.backend AND datname = current_database()
                        AND application_name = left('kii-push ' || gateway.name, 63)) THEN 'late'
                ELSE 'gone' END,
            gateway.is_draining::integer, held.shards, held.agents, held.messages,
            kii_push.now_ms() - held.oldest, gateway.declared_dead, gateway.taken_over,
            CASE WHEN kii_push.is_over(gateway.alive_until) THEN
                kii_push.now_ms() - floor(extract(epoch FROM
                    coalesce(gateway.stopped_at, nullif(gateway.alive_until, '-infinity'))) * 1000)::bigint END
        FROM (
            SELECT shard.gateway, count(*) AS shards,
                sum((SELECT count(*) FROM kii_push.agent WHERE agent.shard = shard.id AND NOT is_leaving))::bigint
                    AS agents,
                sum(open.messages)::bigint AS messages, min(open.oldest) AS oldest
            FROM kii_push.shard CROSS JOIN LATERAL (
                SELECT count(*) AS messages, min(unhandled.received_ms) AS oldest
                FROM \(Self.unhandled) WHERE installation.shard = shard.id) AS open
            GROUP BY shard.gateway
        ) AS held FULL JOIN (SELECT * FROM kii_push.gateway WHERE name <> '') AS gateway ON gateway.id = held.gateway
        ORDER BY gateway.name
        """
}
#endif
