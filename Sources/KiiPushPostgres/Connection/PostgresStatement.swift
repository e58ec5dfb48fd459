#if Postgres
/// A statement, prepared once a connection; without a name it is not.
struct PostgresStatement: Sendable, Hashable {
    /// Its name on the server.
    var name: String
    var sql: String
    /// What it does, for an error.
    var step: String

    init(_ name: String, _ step: String, _ sql: String) { (self.name, self.sql, self.step) = (name, sql, step) }
}
#endif
