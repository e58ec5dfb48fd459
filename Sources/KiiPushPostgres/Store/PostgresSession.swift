#if Postgres
import CPostgres
package import KiiPushCore

/// A session with the database, opened on a thread that may block: the connection, and what the store begins with.
package final class PostgresSession: Sendable {
    /// What the database calls this gateway.
    struct Gateway: Sendable, Hashable {
        var id: Int64
        /// Whoever takes its name gets another one.
        var token: Int64
        /// Which connection of the process it is: it rises.
        var session: Int64 = 0
    }

    let gateway: Gateway
    /// The number of the last turn that was committed.
    let lastTurn: Int64
    let ledger: PostgresLedger
    /// How much waits for the handlers of installations.
    let pendingBytes: [Int64: Int64]
    /// The first number of a block that is this gateway's.
    let numbers: Int64
    /// The address of libpq's connection, which goes from one thread to the other; 0 when it was taken.
    private let handle: Locked<UInt>

    /// Connects, checks the schema, and takes the gateway's name, or goes on with it. Blocks.
    ///
    /// - Parameter gateway: what this process has been, with a session that it has not used; `nil` takes the name from
    ///   whoever has it.
    /// - Throws: ``InboxError``.
    package convenience init(_ configuration: PostgresConfiguration) throws(InboxError) {
        try self.init(configuration, resuming: nil)
    }

    init(_ configuration: PostgresConfiguration, resuming gateway: Gateway?) throws(InboxError) {
        let connection = try BlockingPostgres(configuration.target, name: "kii-push \(configuration.gateway)")
        try PostgresSchema.check(connection)
        if let gateway {
            let rows = try connection.rows(
                "SELECT last_turn FROM kii_push.resume_name($1::integer, $2::bigint, $3::bigint)",
                ["\(gateway.id)", "\(gateway.token)", "\(gateway.session)"], step: "going on as a gateway")
            (self.gateway, self.lastTurn) = (gateway, rows.integer(0, 0))
        } else {
            let rows = try connection.rows(
                "SELECT me, my_token, last_turn FROM kii_push.take_name($1)", [configuration.gateway],
                step: "taking a gateway's name")
            self.gateway = Gateway(id: rows.integer(0, 0), token: rows.integer(0, 1))
            self.lastTurn = rows.integer(0, 2)
        }
        let open = try connection.rows(PostgresStatements.open, step: "counting what is not done")
        self.ledger = PostgresLedger(
            counters: try connection.rows(PostgresStatements.ledger, step: "reading the counts"), open: open)
        var pendingBytes: [Int64: Int64] = [:]
        for row in 0..<open.count where RowState(rawValue: open.integer(row, 1))?.isPending ?? false {
            pendingBytes[open.integer(row, 0), default: 0] += open.integer(row, 3)
        }
        self.pendingBytes = pendingBytes
        self.numbers = try connection.rows(
            PostgresStatements.takeNumbers.sql, step: PostgresStatements.takeNumbers.step
        ).integer(0, 0)
        try connection.prepare(
            PostgresStatements.turn + PostgresStatements.claims + PostgresStatements.questions)
        self.handle = Locked(UInt(bitPattern: connection.release()))
    }

    deinit { if let handle = self.take() { PQfinish(handle) } }

    /// Gives the connection to a loop, once.
    func connection(on loop: EventLoop, broke: @escaping (InboxError) -> Void) throws(InboxError) -> PostgresConnection
    {
        guard let taken = self.take() else { throw .away("using a session twice") }
        return try PostgresConnection(owning: taken, on: loop, broke: broke)
    }

    private func take() -> OpaquePointer? {
        self.handle.withLock { handle in
            defer { handle = 0 }
            return OpaquePointer(bitPattern: handle)
        }
    }
}

/// How a gateway uses its database.
package struct PostgresConfiguration: Sendable {
    /// A URL or keywords, as libpq takes them.
    package var target: String
    /// The gateway's name, by which the database knows it again.
    package var gateway: String
    /// How long done rows are kept.
    package var keepsDoneFor: Duration = .seconds(24 * 3600)
    package var keepsDead = InboxCounts.Tally(rows: 100_000, bytes: 256 << 20)
    /// No retry is put off for longer.
    package var longestDelay: Duration = .seconds(7 * 24 * 3600)
    package var clocks = Clocks.machine

    package init(target: String, gateway: String) { (self.target, self.gateway) = (target, gateway) }
}
#endif
