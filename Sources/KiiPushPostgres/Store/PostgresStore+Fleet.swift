#if Postgres
import KiiPushCore

struct FleetRenewal: Sendable, Hashable {
    var share: Int
    var shards: [Int64: Int64]
    /// The number of shards that this renewal has freed because their gateways were dead.
    var freed: Int
    var gateways: Int
}

struct FleetRow: Sendable, Hashable {
    var name: String
    var shard: Int64
    var declaration: String
    var state: String?
    var isLeaving: Bool
}

extension PostgresStore {
    /// Renews the lease and, if `joins`, takes free shards up to the gateway's share.
    func renew(joins: Bool = true, completion: @escaping StoreCompletion<FleetRenewal>) {
        var parameters = PostgresParameters()
        parameters.add(self.gateway)
        parameters.add(Int64(self.configuration.lease.wholeMillisecondsRoundedUp))
        parameters.add(joins ? 1 : 0)
        parameters.add(self.shards.keys)
        let mine = PostgresParameters(self.gateway.id)
        let clocks = self.configuration.clocks
        let asked = clocks.calendar.millisecondsSinceEpoch
        self.ask([(PostgresStatements.renew, parameters), (PostgresStatements.shards, mine)]) { answer in
            if case .success(let rows) = answer {
                self.clock.note(
                    rows[0].integer(0, 4), from: asked, to: clocks.calendar.millisecondsSinceEpoch)
            }
            completion(answer.map { self.renewed($0[0], shards: $0[1]) })
        }
    }

    private func renewed(_ rows: PostgresRows, shards: PostgresRows) -> FleetRenewal {
        if let block = rows.optionalInteger(0, 3) { self.numbers.begin(block: block) }
        let held = Dictionary(
            uniqueKeysWithValues: (0..<shards.count).map { (shards.integer($0, 0), shards.integer($0, 1)) })
        self.forget(self.installations.keys(in: Set(self.shards.keys).subtracting(held.keys)))
        self.shards = held
        return FleetRenewal(
            share: Int(rows.integer(0, 0)), shards: held, freed: Int(rows.integer(0, 1)),
            gateways: Int(rows.integer(0, 2)))
    }

    /// Releases shards. The caller has ended all work on them.
    func release(_ shards: Set<Int64>, completion: @escaping StoreCompletion<Void>) {
        self.forget(self.installations.keys(in: shards))
        self.shards = self.shards.filter { !shards.contains($0.key) }
        var parameters = PostgresParameters(self.gateway.id)
        parameters.add(shards)
        self.write([(PostgresStatements.release, parameters)]) { answer in
            if case .success = answer { self.shards = self.shards.filter { !shards.contains($0.key) } }
            completion(answer.map { _ in () })
        }
    }

    func leave(completion: @escaping StoreCompletion<Void>) {
        self.forget(self.installations.keys(in: Set(self.shards.keys)))
        self.shards = [:]
        let parameters = PostgresParameters(self.gateway.id)
        let steps = [PostgresStatements.releaseAll, PostgresStatements.leave].map { ($0, parameters) }
        self.write(steps) { completion($0.map { _ in () }) }
    }

    func agents(of shards: some Collection<Int64>, completion: @escaping StoreCompletion<[FleetRow]>) {
        var parameters = PostgresParameters()
        parameters.add(shards)
        self.ask([(PostgresStatements.agents, parameters)]) { answer in
            completion(
                answer.map { rows in
                    (0..<rows[0].count).map { row in
                        FleetRow(
                            name: rows[0].text(row, 0) ?? "", shard: rows[0].integer(row, 1),
                            declaration: rows[0].text(row, 2) ?? "", state: rows[0].text(row, 3),
                            isLeaving: rows[0].integer(row, 4) != 0)
                    }
                })
        }
    }

    func save(_ state: String, of agent: FleetRow, completion: @escaping StoreCompletion<Void>) {
        var parameters = PostgresParameters()
        parameters.add(agent.name)
        parameters.add(state)
        parameters.add(self.gateway.id)
        self.ask(together: [(PostgresStatements.saveAgent, parameters)], writes: true) { answer in
            completion(
                answer.flatMap { rows in
                    rows[0].count > 0 ? .success(()) : .failure(InboxError(.locked, step: "saving an agent's state"))
                })
        }
    }

    func remove(_ agent: FleetRow, completion: @escaping StoreCompletion<Void>) {
        var parameters = PostgresParameters()
        parameters.add(agent.name)
        parameters.add(self.gateway.id)
        self.write([(PostgresStatements.removeAgent, parameters)]) { answer in
            if case .success(let rows) = answer, rows[0].count > 0 {
                self.forget(self.installations.keys(of: agent.name))
            }
            completion(answer.map { _ in () })
        }
    }
}

extension PostgresStatements {
    static let renew = PostgresStatement(
        "renew", "renewing the lease",
        """
        SELECT share, freed, gateways, block, kii_push.now_ms()
        FROM kii_push.renew($1::bigint::integer, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint,
            $7::bigint = 1, $8::bigint[]::integer[])
        """)
    static let shards = PostgresStatement(
        "shards", "reading the gateway's shards",
        "SELECT id, revision FROM kii_push.shard WHERE gateway = $1::bigint::integer")
    static let release = PostgresStatement(
        "release", "handing over shards",
        """
        UPDATE kii_push.shard SET gateway = NULL
        WHERE gateway = $1::bigint::integer AND id = ANY ($2::bigint[]::integer[])
        """)
    static let releaseAll = PostgresStatement(
        "release_all", "handing over shards",
        "UPDATE kii_push.shard SET gateway = NULL WHERE gateway = $1::bigint::integer")
    static let leave = PostgresStatement(
        "leave", "letting go of the gateway's name",
        "UPDATE kii_push.gateway SET alive_until = '-infinity', stopped_at = now() WHERE id = $1::bigint::integer")
    static let agents = PostgresStatement(
        "agents", "reading agents",
        """
        SELECT name, shard, declaration, state, is_leaving::integer FROM kii_push.agent
        WHERE shard = ANY ($1::bigint[]::integer[]) ORDER BY name
        """)
    static let saveAgent = PostgresStatement(
        "save_agent", "saving an agent's state",
        """
        UPDATE kii_push.agent SET state = $2::text WHERE name = $1::text
            AND shard IN (SELECT id FROM kii_push.shard WHERE gateway = $3::bigint::integer) RETURNING shard
        """)
    static let removeAgent = PostgresStatement(
        "remove_agent", "removing an agent",
        """
        DELETE FROM kii_push.agent WHERE name = $1::text AND is_leaving
            AND shard IN (SELECT id FROM kii_push.shard WHERE gateway = $2::bigint::integer) RETURNING shard
        """)

    static let fleet = [renew, shards, release, releaseAll, leave, agents, saveAgent, removeAgent]
}
#endif
