#if Postgres
import CPostgres

/// Whether the server has warned. It does when it commits and somebody has ended its wait for a synchronous standby: then
/// the commit is on one disk alone. What a connection does after that is not trusted; a new one waits anew.
///
/// - Source: `SyncRepWaitForLSN` of PostgreSQL. ``BlockingPostgres`` has the server send nothing milder than a warning.
final class PostgresWarnings {
    private let flag: UnsafeMutablePointer<Bool>

    /// Takes the place of libpq's own way with warnings, which is to write them to standard error. Lives as long as the
    /// connection does, or until another one takes its place.
    init(of handle: OpaquePointer?) {
        self.flag = .allocate(capacity: 1)
        self.flag.initialize(to: false)
        PQsetNoticeReceiver(
            handle,
            { flag, notice in
                // INFO comes whatever the server was told to send.
                guard let word = PQresultErrorField(notice, cpostgres_severity), String(cString: word) == "WARNING"
                else { return }
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
            }, self.flag)
    }

    deinit { self.flag.deallocate() }

    var hasSome: Bool { self.flag.pointee }

    /// What was warned of is undone.
    func forget() { self.flag.pointee = false }
}
#endif
