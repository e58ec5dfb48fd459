#if Postgres
import CPostgres
import KiiPushCore

extension InboxError {
    /// The connection broke, or there is none.
    static func away(_ step: String) -> InboxError { InboxError(.away, step: step) }

    /// What the server answered instead of rows. Its words may quote a row, and are not kept.
    ///
    /// - Source: "PostgreSQL Error Codes" in its manual.
    init(_ result: OpaquePointer, step: String) {
        let field = PQresultErrorField(result, cpostgres_sqlstate)
        self.init(sqlState: field.map { String(cString: $0) } ?? "", step: step)
        guard self.sqlState == "KII04", let words = PQresultErrorField(result, cpostgres_message) else { return }
        // Words of the schema's own: the process, milliseconds, and the host.
        let parts = String(cString: words).split(separator: " ", maxSplits: 2)
        self.kind = .nameInUse(
            host: parts.dropFirst(2).first.map(String.init) ?? "", processID: parts.first.flatMap { Int($0) } ?? 0,
            timeLeft: .milliseconds(parts.dropFirst().first.flatMap { Int($0) } ?? 0))
    }

    init(sqlState: String, step: String) {
        let kind: Kind =
            switch sqlState {
            // Disk full, out of memory.
            case "53100", "53200": .full
            // A standby takes no writes; the role lacks a right.
            case "25006", "42501": .notPermitted
            // Errors of the schema's own: another session has the name, or another gateway the shards.
            case "KII01": .fenced
            case "KII05": .ofAnother
            case "KII03", "55P03", "40001", "40P01": .locked
            case _ where sqlState.hasPrefix("08") || sqlState.hasPrefix("57"): .away
            case _ where sqlState.hasPrefix("53"): .away
            case _ where sqlState.hasPrefix("58"): .io
            case _ where sqlState.hasPrefix("XX"): .corrupt
            default: .other
            }
        self.init(kind, step: step, sqlState: sqlState.isEmpty ? nil : sqlState)
    }
}
#endif
