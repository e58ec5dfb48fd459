#if Postgres
import CPostgres
import Glibc
package import KiiPushCore

package final class PostgresSession: Sendable {
    package struct Gateway: Sendable, Hashable {
        var id: Int64
        /// Changes when a process takes the gateway's name, and when other gateways declare this gateway dead.
        var token: Int64
        /// Rises with each connection of the process.
        var session: Int64 = 0
        /// The number of the last confirmed turn. If the database's last turn is earlier, an older copy has replaced
        /// the database.
        var turn: Int64
        var messages: Int64
    }

    let gateway: Gateway
    let lastTurn: Int64
    let dead: InboxCounts.Tally
    let clock: DatabaseClock
    let pendingBytes: [Int64: Int64]
    private let handle: Locked<UInt>

    /// Blocks, if necessary until the end of another process's lease on the gateway's name.
    ///
    /// - Parameter gateway: the identity that this process already has, with an unused session number; `nil` takes the
    ///   name.
    /// - Throws: ``InboxError``, of kind `nameInUse` if another process keeps the name.
    package init(_ configuration: PostgresConfiguration, resuming gateway: Gateway? = nil) throws(InboxError) {
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
        // The lease is renewed on this connection too, so a slow statement would delay the renewal.
        try connection.execute("SET statement_timeout = '5s'", step: "preparing a session")
        self.handle = Locked(UInt(bitPattern: connection.release()))
    }

    deinit { if let handle = self.take() { PQfinish(handle) } }

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
            poll(nil, 0, Int32(clamping: timeLeft.wholeMillisecondsRoundedUp + 1))
            return try take()
        }
    }

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

package struct PostgresConfiguration: Sendable {
    package var target: String
    package var gateway: String
    /// The duration of the lease: a renewal keeps the gateway's shards for this time.
    package var lease: Duration = .seconds(10)
    package var keepsDoneFor: Duration = .seconds(24 * 3600)
    package var keepsDead = InboxCounts.Tally(rows: 100_000, bytes: 256 << 20)
    /// The longest pause before a retry.
    package var longestDelay: Duration = .seconds(7 * 24 * 3600)
    package var clocks = Clocks.machine

    package init(target: String, gateway: String) { (self.target, self.gateway) = (target, gateway) }
}

struct DatabaseClock: Sendable, Hashable {
    private(set) var lead: Int64 = 0

    /// Corrects ``lead``, the database's time minus this machine's: the database's time was `time` at some moment
    /// between `first` and `last` of this machine's clock. ``lead`` changes only if the answer contradicts it.
    mutating func note(_ time: Int64, from first: Int64, to last: Int64) {
        self.lead = min(max(self.lead, time - last), time - first)
    }
}
#endif
