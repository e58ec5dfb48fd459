#if Postgres
import KiiPushCore
import TestSupport

final class TrialDatabase: Sendable {
    private struct Servers {
        var present: PostgresServer
        var standby: PostgresServer?
    }

    private let servers: Locked<Servers>
    private let name: String

    init(_ server: PostgresServer, _ standby: PostgresServer?, _ target: String) {
        self.servers = Locked(Servers(present: server, standby: standby))
        self.name = target.split(separator: "=").last.map(String.init) ?? ""
    }

    var server: PostgresServer { self.servers.withLock { $0.present } }
    var target: String { self.server.target(self.name) }

    func target(through relay: DatabaseRelay) -> String { "host=\(relay.directory) user=kii dbname=\(self.name)" }

    @discardableResult
    func run(_ sql: String) async throws -> String { try await self.server.run(sql, in: self.name) }

    /// Whether this many gateways are alive and have shards.
    func areAllAlive(_ count: Int) async throws -> Bool {
        try await self.run(
            """
            SELECT count(*) FROM kii_push.gateway WHERE NOT kii_push.is_over(alive_until)
                AND EXISTS (SELECT FROM kii_push.shard WHERE shard.gateway = gateway.id)
            """) == "\(count)\n"
    }

    /// Ends the server as a lost machine would, and promotes the standby.
    func failOver(_ relays: [DatabaseRelay]) async throws {
        let (lost, standby) = self.servers.withLock { ($0.present, $0.standby.take()) }
        guard let standby else { throw TestFailure("there is no standby") }
        try await lost.end()
        try await standby.promote()
        self.servers.withLock { $0.present = standby }
        for relay in relays { relay.lead(to: standby.directory) }
    }
}
#endif
