#if Postgres
import CPostgres
import Glibc
import KiiPushCore

extension InboxError {
    static func away(_ step: String) -> InboxError { InboxError(.away, step: step) }

    /// The server's text may quote a row, so this keeps only the error code, and values from this schema's own errors.
    init(_ result: OpaquePointer, step: String) {
        let field = PQresultErrorField(result, cpostgres_sqlstate)
        self.init(sqlState: field.map { String(cString: $0) } ?? "", step: step)
        guard let words = PQresultErrorField(result, cpostgres_message).map({ String(cString: $0) }) else { return }
        switch self.sqlState {
        case "KII01":
            let parts = words.split(separator: " ", maxSplits: 1)
            guard let processID = parts.first.flatMap({ Int($0) }), let host = parts.last.map(String.init),
                (processID, host) != (Int(getpid()), HostProcess.hostName)
            else { return }
            self.kind = .nameTaken(host: host, processID: processID)
        case "KII04":
            let parts = words.split(separator: " ", maxSplits: 2)
            self.kind = .nameInUse(
                host: parts.dropFirst(2).first.map(String.init) ?? "", processID: parts.first.flatMap { Int($0) } ?? 0,
                timeLeft: .milliseconds(parts.dropFirst().first.flatMap { Int($0) } ?? 0))
        case "KII08": self.kind = .restored(missing: Int(words))
        default: break
        }
    }

    init(sqlState: String, step: String) {
        let kind: Kind =
            switch sqlState {
            case "53100", "53200": .full
            case "25006", "42501": .notPermitted
            case "KII01": .fenced
            case "KII05": .ofAnother
            case "KII08": .restored(missing: nil)
            case "3F000", "42P01", "42883", "42P07", "42723": .halfMade
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
