#if Postgres
import CPostgres
import Glibc
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
        /// The number of the last turn that the database has confirmed, and how many messages it has stored under the name by
        /// then. One that knows of less is older.
        var turn: Int64
        var messages: Int64
    }

    let gateway: Gateway
    /// The number of the last turn that was committed.
    let lastTurn: Int64
    let dead: InboxCounts.Tally
    let clock: DatabaseClock
    /// How much waits for the handlers of installations.
    let pendingBytes: [Int64: Int64]
    /// The address of libpq's connection, which goes from one thread to the other; 0 when it was taken.
    private let handle: Locked<UInt>

    /// Connects, checks the schema, and takes the gateway's name, or goes on with it. Blocks.
    ///
    /// - Parameter gateway: what this process has been, with a session that it has not used; `nil` takes the name, for
    ///   which it may have to wait for as long as the lease of a process that has it.
    /// - Throws: ``InboxError``, of kind `nameInUse` where that process goes on.
    package convenience init(_ configuration: PostgresConfiguration) throws(InboxError) {
        try self.init(configuration, resuming: nil)
    }

    init(_ configuration: PostgresConfiguration, resuming gateway: Gateway?) throws(InboxError) {
        let connection = try BlockingPostgres(configuration.target, name: "kii-push \(configuration.gateway)")
        try PostgresSchema.check(connection)
        try PostgresSchema.checkRights(connection)
        if let gateway {
            let rows = try connection.rows(
                "SELECT last_turn FROM kii_push.resume_name($1::integer, $2::bigint, $3::bigint, $4::bigint, $5::bigint)",
                [gateway.id, gateway.token, gateway.session, gateway.turn, gateway.messages].map(String.init),
                step: "going on as a gateway")
            (self.gateway, self.lastTurn) = (gateway, rows.integer(0, 0))
        } else {
            let rows = try Self.takeName(connection, configuration)
            self.lastTurn = rows.integer(0, 2)
            self.gateway = Gateway(
                id: rows.integer(0, 0), token: rows.integer(0, 1), turn: self.lastTurn, messages: rows.integer(0, 3))
        }
        let asked = configuration.clocks.calendar.millisecondsSinceEpoch
        let time = try connection.rows("SELECT kii_push.now_ms()", step: "reading the database's clock").integer(0, 0)
        var clock = DatabaseClock()
        clock.note(time, from: asked, to: configuration.clocks.calendar.millisecondsSinceEpoch)
        self.clock = clock
        let dead = try connection.rows(PostgresStatements.dead.sql, step: PostgresStatements.dead.step)
        self.dead = InboxCounts.Tally(rows: dead.integer(0, 0), bytes: dead.integer(0, 1))
        // A process that begins is told of each installation when it is asked for.
        var pendingBytes: [Int64: Int64] = [:]
        if gateway != nil {
            let rows = try connection.rows(
                PostgresStatements.pendingBytes, ["\(self.gateway.id)"], step: "counting what waits")
            for row in 0..<rows.count { pendingBytes[rows.integer(row, 0), default: 0] += rows.integer(row, 1) }
        }
        self.pendingBytes = pendingBytes
        try connection.prepare(
            PostgresStatements.turn + PostgresStatements.claims + PostgresStatements.questions
                + PostgresStatements.fleet + PostgresStatements.requests)
        // What takes longer is given up: the lease is renewed behind it, on the same connection.
        try connection.execute("SET statement_timeout = '5s'", step: "preparing a session")
        self.handle = Locked(UInt(bitPattern: connection.release()))
    }

    deinit { if let handle = self.take() { PQfinish(handle) } }

    /// Waits once for the lease of a process that has the name, and may be gone.
    private static func takeName(
        _ connection: BlockingPostgres, _ configuration: PostgresConfiguration
    ) throws(InboxError) -> PostgresRows {
        func take() throws(InboxError) -> PostgresRows {
            try connection.rows(
                "SELECT me, my_token, last_turn, messages FROM kii_push.take_name($1, $2, $3::integer, $4::bigint)",
                [
                    configuration.gateway, HostProcess.hostName, "\(getpid())",
                    "\(configuration.lease.wholeMillisecondsRoundedUp)",
                ], step: "taking a gateway's name")
        }
        do {
            return try take()
        } catch {
            guard case .nameInUse(_, _, let timeLeft) = error.kind else { throw error }
            // A minute at most.
            poll(nil, 0, Int32(clamping: timeLeft.wholeMillisecondsRoundedUp + 1))
            return try take()
        }
    }

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
    /// For how long it has its shards after it has said so.
    package var lease: Duration = .seconds(10)
    /// How long done rows are kept.
    package var keepsDoneFor: Duration = .seconds(24 * 3600)
    package var keepsDead = InboxCounts.Tally(rows: 100_000, bytes: 256 << 20)
    /// No retry is put off for longer.
    package var longestDelay: Duration = .seconds(7 * 24 * 3600)
    package var clocks = Clocks.machine

    package init(target: String, gateway: String) { (self.target, self.gateway) = (target, gateway) }
}

/// The lead of the database's calendar over this machine's. Gateways write the database's times, so that these agree
/// whatever clock a machine has.
struct DatabaseClock: Sendable, Hashable {
    /// In milliseconds.
    private(set) var lead: Int64 = 0

    /// Takes an answer: it was `time` there at some point between two moments here, all in milliseconds. A slow answer says
    /// little, and the lead stays as long as it agrees with the answer.
    mutating func note(_ time: Int64, from first: Int64, to last: Int64) {
        self.lead = min(max(self.lead, time - last), time - first)
    }
}
#endif
