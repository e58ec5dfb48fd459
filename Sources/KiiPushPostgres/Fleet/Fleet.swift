#if Postgres
public import KiiPushCore

/// The agents and the gateways of a fleet, for administration. It needs no gateway of its own.
///
/// Each call opens a connection of its own to the database, on a thread of its own, and closes it.
public struct Fleet: Sendable {
    let store: FleetStore

    /// The fleet that has its messages and its agents in `store`.
    public init(_ store: FleetStore) { self.store = store }

    package var isOfOne: Bool { self.store.isOne }

    // MARK: - The schema

    /// Makes the tables where there are none, in one transaction of each database. It needs a superuser or the
    /// database's owner; a gateway needs fewer rights.
    ///
    /// - Throws: As ``check()``.
    public func makeTables() async throws {
        for target in self.store.targets {
            try await self.onThread { () throws(InboxError) in try PostgresSchema.make(target) }
        }
    }

    /// Throws unless each database can be reached, has the tables of this version, and gives this role the rights of a
    /// gateway.
    ///
    /// - Throws: `PushAgentError`: `inbox`, also for a role that lacks a right, and for a database with a part of these
    ///   tables, such as during the restoration of a backup; `invalidConfiguration` for an unusable address, and for a
    ///   database without these tables.
    public func check() async throws { _ = try await self.asking(PostgresSchema.checkRights) }

    /// The oldest version of the tables in any database; 0 where there are none.
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

    /// Declares agents, or changes the declarations of those with the same names. Each database stores all of its
    /// agents or none. Within 3 s, the gateway that has an agent's shard starts it, or stops it and starts it anew. The
    /// database stores the agents' credentials.
    ///
    /// - Throws: `PushAgentError`: `invalidConfiguration` for a declaration that no agent could begin with, or for a
    ///   name that occurs twice; as ``check()``.
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

    /// The agents of each database: where they are declared, or where their names lead to.
    private func places(of texts: [String: String]) async throws -> [String: [String: String]] {
        let targets = self.store.targets
        let names = Array(texts.keys)
        // A single database has them all.
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

    /// FNV-1a, since every process has to compute the same place. The shard comes from another hash.
    static func place(of name: String, among count: Int) -> Int {
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int((hash >> 32) % UInt64(max(count, 1)))
    }

    private func declare(_ texts: [String: String], at target: String) async throws {
        let list = String(decoding: JSONValue.object(texts.map { ($0, JSONValue($1)) }).serialized(), as: UTF8.self)
        try await self.asking(target) { connection throws(InboxError) in
            // A gateway that takes shards meanwhile may have locked them in another order.
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

    /// - Parameter list: a JSON object with the declarations as texts, by name.
    private static func declare(_ list: String, _ connection: BlockingPostgres) throws(InboxError) {
        let step = "declaring agents"
        try connection.execute("BEGIN", step: step)
        // One declaration at a time, since each locks shards.
        try connection.execute("SELECT pg_advisory_xact_lock(\(PostgresSchema.lock + 1))", step: step)
        _ = try connection.rows(
            """
            INSERT INTO kii_push.agent (name, shard, declaration)
            SELECT key, kii_push.shard_of(key), value FROM json_each_text($1)
            ON CONFLICT (name) DO UPDATE SET declaration = excluded.declaration, is_leaving = false
            """, [list], step: step)
        // Last: a gateway that takes over shards waits for these locks, and its lease is renewed in the same
        // transaction.
        _ = try connection.rows(
            """
            UPDATE kii_push.shard SET revision = revision + 1
            WHERE id IN (SELECT kii_push.shard_of(name) FROM json_object_keys($1) AS name)
            """, [list], step: step)
        try connection.execute("COMMIT", step: step)
    }

    /// Has an agent's gateway stop the agent and remove it, within 3 s after its last message was handled. The agent's
    /// unfinished messages wait for an agent that is declared for the same user or thing. The cloud keeps the
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

    /// The names of all declared agents, sorted.
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

    /// Has a gateway hand over all its shards, and take none until its process starts again: before an upgrade, say.
    ///
    /// - Returns: whether there is a gateway of this name.
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

    /// The gateways with their shards, agents and waiting messages. If some databases cannot be reached, the status
    /// names them.
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

    /// Calls `body` for each database, one after the other.
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
