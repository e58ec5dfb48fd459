#if Postgres
public import KiiPushCore

/// The agents and gateways of a fleet, for administration.
///
/// A gateway is a process that receives for a share of the agents. Administration needs no running gateway: each call
/// opens its own connections to the databases, on its own threads, and closes them.
///
/// ```swift
/// let fleet = Fleet(.postgres("postgres://kii@db.example.com/push"))
/// try await fleet.makeTables()
/// try await fleet.add([configuration])
/// ```
public struct Fleet: Sendable {
    let store: FleetStore

    /// Creates a fleet whose messages and agents are in `store`.
    public init(_ store: FleetStore) { self.store = store }

    package var hasOneDatabase: Bool { self.store.isOne }

    // MARK: - The schema

    /// Creates missing tables, in one transaction for each database. The role needs the right to create a schema.
    /// A gateway accepts only tables of its own role, of a superuser, or (unless its role is a superuser) of the
    /// database's owner.
    ///
    /// - Throws: As ``check()``.
    public func makeTables() async throws {
        for target in self.store.targets {
            try await self.onThread { () throws(InboxError) in try PostgresSchema.make(target) }
        }
    }

    /// Checks each database: whether it can be reached, has the tables of this version, and gives this role the rights
    /// of a gateway.
    ///
    /// - Throws: `PushAgentError.inbox` if a database cannot be reached, does not grant a right, or has only some of
    ///   the tables, as during the restoration of a backup. `PushAgentError.invalidConfiguration` for an unusable
    ///   address, and for tables that are missing, newer, or of an untrusted role.
    public func check() async throws { _ = try await self.asking(PostgresSchema.checkRights) }

    package func schemaVersion() async throws -> Int {
        var oldest = Int.max
        for target in self.store.targets {
            let version = try await self.onThread { () throws(InboxError) in
                try PostgresSchema.installedVersion(BlockingPostgres(target, name: "kii-push-gateway store"))
            }
            oldest = min(oldest, version)
        }
        return oldest
    }

    // MARK: - Agents

    /// Declares agents, or replaces the declarations of agents with the same names. Each database stores all of its
    /// agents or none. Within about 3 s the agent's gateway starts the agent, or restarts it if the declaration has
    /// changed. The database stores the agents' credentials.
    ///
    /// - Throws: `PushAgentError.invalidConfiguration` for an invalid declaration or for a name that occurs twice; as
    ///   ``check()``.
    public func add(_ agents: [PushAgent.Configuration]) async throws {
        var texts: [String: String] = [:]
        for agent in agents {
            let text = String(decoding: agent.json.serialized(), as: UTF8.self)
            let setting = "agent \(agent.name)"
            guard texts.updateValue(text, forKey: agent.name) == nil else {
                throw PushAgentError.invalidConfiguration(setting: setting, reason: "is declared twice")
            }
            do throws(JSONMemberError) {
                _ = try PushAgent.Configuration(json: text)
            } catch {
                throw PushAgentError.invalidConfiguration(setting: setting, reason: error.description)
            }
        }
        for (target, texts) in try await self.places(of: texts) { try await self.declare(texts, at: target) }
    }

    private func places(of texts: [String: String]) async throws -> [String: [String: String]] {
        let targets = self.store.targets
        let names = Array(texts.keys)
        var known: [Set<String>] = []
        if targets.count > 1 {
            known = try await self.asking { connection throws(InboxError) -> Set<String> in
                var known: Set<String> = []
                for name in names {
                    let rows = try connection.rows(
                        "SELECT FROM kii_push.agent WHERE name = $1", [name], step: "looking for agents")
                    if rows.count > 0 { known.insert(name) }
                }
                return known
            }
        }
        var places: [String: [String: String]] = [:]
        for (name, text) in texts {
            let place = known.firstIndex { $0.contains(name) } ?? Fleet.place(of: name, among: targets.count)
            places[targets[place], default: [:]][name] = text
        }
        return places
    }

    /// Shards use another hash.
    static func place(of name: String, among count: Int) -> Int {
        Int((name.stableHash >> 32) % UInt64(max(count, 1)))
    }

    private func declare(_ texts: [String: String], at target: String) async throws {
        let list = String(decoding: JSONValue.object(texts.map { ($0, JSONValue($1)) }).serialized(), as: UTF8.self)
        try await self.asking(target) { connection throws(InboxError) in
            // Retries a deadlock with a gateway that takes the same shards in another order.
            for _ in 0..<3 {
                do throws(InboxError) {
                    return try Fleet.declare(list, connection)
                } catch {
                    guard error.kind == .locked else { throw error }
                    try connection.execute("ROLLBACK", step: "declaring agents")
                }
            }
            try Fleet.declare(list, connection)
        }
    }

    private static func declare(_ list: String, _ connection: BlockingPostgres) throws(InboxError) {
        let step = "declaring agents"
        try connection.execute("BEGIN", step: step)
        // One declaration at a time: two could wait for each other's locks on shards.
        try connection.execute("SELECT pg_advisory_xact_lock(\(PostgresSchema.lock + 1))", step: step)
        _ = try connection.rows(
            """
            INSERT INTO kii_push.agent (name, shard, declaration)
            SELECT key, kii_push.shard_of(key), value FROM json_each_text($1)
            ON CONFLICT (name) DO UPDATE SET declaration = excluded.declaration, is_leaving = false
            """, [list], step: step)
        // Locks the shards last, and so briefly: a gateway that takes over shards waits for these locks in the
        // transaction that renews its lease.
        _ = try connection.rows(
            """
            UPDATE kii_push.shard SET revision = revision + 1
            WHERE id IN (SELECT kii_push.shard_of(name) FROM json_object_keys($1) AS name)
            """, [list], step: step)
        try connection.execute("COMMIT", step: step)
    }

    /// Stops and removes an agent. The agent's gateway begins to stop the agent within about 3 s, and waits for running
    /// handlers. The agent's unfinished messages wait for another agent of the same user or thing. The cloud keeps the
    /// installation.
    ///
    /// - Returns: whether the agent was declared.
    /// - Throws: As ``check()``.
    @discardableResult
    public func remove(agent name: String) async throws -> Bool {
        try await self.asking { connection throws(InboxError) in
            try connection.rows(
                "SELECT kii_push.dismiss_agent($1)::integer", [name], step: "removing an agent"
            ).integer(0, 0) != 0
        }.contains(true)
    }

    /// Returns the names of all declared agents, sorted.
    ///
    /// - Throws: As ``check()``.
    public func agents() async throws -> [String] {
        try await self.asking { connection throws(InboxError) in
            let rows = try connection.rows(
                "SELECT name FROM kii_push.agent WHERE NOT is_leaving ORDER BY name", step: "reading agents")
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }.flatMap { $0 }.sorted()
    }

    // MARK: - Gateways

    /// Makes a gateway hand over all its shards, for example before an upgrade. The gateway takes no shards until its
    /// process starts again.
    ///
    /// - Returns: whether there is a gateway with this name.
    /// - Throws: As ``check()``.
    @discardableResult
    public func drain(gateway name: String) async throws -> Bool {
        try await self.asking { connection throws(InboxError) in
            try connection.rows(
                "UPDATE kii_push.gateway SET is_draining = true WHERE name = $1 RETURNING 1", [name],
                step: "draining a gateway"
            ).count > 0
        }.contains(true)
    }

    /// Returns the gateways with their shards, agents and waiting messages. If some databases cannot be reached, the
    /// status names them.
    ///
    /// - Throws: As ``check()``, if no database can be reached.
    public func status() async throws -> FleetStatus {
        var status: FleetStatus?
        var failures: [Int: PushAgentError] = [:]
        for (place, target) in self.store.targets.enumerated() {
            do throws(PushAgentError) {
                let other = try await self.asking(target) { connection throws(InboxError) in
                    try FleetStatus(connection, database: place)
                }
                if status == nil { status = other } else { status?.add(other) }
            } catch {
                failures[place] = error
            }
        }
        guard var status else {
            throw failures[0] ?? .invalidConfiguration(setting: "store", reason: "names no database")
        }
        status.unreachable = failures.mapValues(\.description)
        return status
    }

    // MARK: - Asking

    private func asking<Value: Sendable>(
        _ body: @escaping @Sendable (BlockingPostgres) throws(InboxError) -> Value
    ) async throws(PushAgentError) -> [Value] {
        var answers: [Value] = []
        for target in self.store.targets { answers.append(try await self.asking(target, body)) }
        return answers
    }

    func asking<Value: Sendable>(
        _ target: String, _ body: @escaping @Sendable (BlockingPostgres) throws(InboxError) -> Value
    ) async throws(PushAgentError) -> Value {
        try await self.onThread { () throws(InboxError) in
            let connection = try BlockingPostgres(target, name: "kii-push-gateway fleet")
            try PostgresSchema.check(connection)
            return try body(connection)
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(InboxError) -> Value
    ) async throws(PushAgentError) -> Value {
        let answer = OneShot<Result<Value, InboxError>>()
        do {
            try OSThread(name: "kii-postgres") {
                answer.resume(Result { () throws(InboxError) in try body() })
            }.detach()
        } catch {
            throw PushAgentError.inbox(reason: "\(error)")
        }
        return try await answer.value().mapError { PushAgentError($0) }.get()
    }
}

extension PushAgentError {
    init(_ error: InboxError) {
        switch error.kind {
        case .badAddress, .noSchema, .notTrusted, .newerVersion:
            self = .invalidConfiguration(setting: "store", reason: "cannot be used: \(error)")
        default: self = .inbox(reason: error.description)
        }
    }
}
#endif
