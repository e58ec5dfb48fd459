#if Postgres
import KiiPushCore

package struct FleetBacklog: Sendable, Hashable {
    /// The number of the database, from 0.
    package var database: Int
    /// By shard, the number of messages that wait or whose handler is running. Empty shards are left out.
    package var messages: [Int64: Int64] = [:]
    package var lag = Duration.zero
    package var deadLetters: Int64 = 0
}

extension Fleet {
    /// Returns the backlog of `gateway` in each database that can be reached.
    ///
    /// - Parameter failing: the numbers of databases to skip.
    package func backlog(of gateway: String, besides failing: Set<Int> = []) async -> [FleetBacklog] {
        var backlogs: [FleetBacklog] = []
        for (place, target) in self.store.targets.enumerated() where !failing.contains(place) {
            let backlog = try? await self.asking(target) { connection throws(InboxError) in
                // A short limit, because the caller answers a request for metrics.
                try connection.execute("SET statement_timeout = '3s'", step: "counting what waits")
                let rows = try connection.rows(
                    """
                    SELECT installation.shard, count(*), kii_push.now_ms() - min(received_ms)
                    FROM kii_push.gateway JOIN kii_push.shard ON shard.gateway = gateway.id
                        JOIN (\(FleetStatus.unhandled)) ON installation.shard = shard.id
                    WHERE gateway.name = $1 GROUP BY installation.shard
                    """, [gateway], step: "counting what waits")
                var backlog = FleetBacklog(database: place)
                for row in 0..<rows.count {
                    backlog.messages[rows.integer(row, 0)] = rows.integer(row, 1)
                    backlog.lag = max(backlog.lag, .milliseconds(rows.integer(row, 2)))
                }
                let dead = try connection.rows(
                    """
                    SELECT count(*) FROM kii_push.message JOIN kii_push.installation ON installation.key = installation
                        JOIN kii_push.shard ON shard.id = installation.shard
                        JOIN kii_push.gateway ON gateway.id = shard.gateway
                    WHERE state = 5 AND gateway.name = $1
                    """, [gateway], step: "counting dead letters")
                backlog.deadLetters = dead.integer(0, 0)
                return backlog
            }
            if let backlog { backlogs.append(backlog) }
        }
        return backlogs
    }
}
#endif
