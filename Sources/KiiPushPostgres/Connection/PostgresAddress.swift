#if Postgres
import CPostgres
import Glibc
import KiiPushCore

/// Where a database is, as libpq reads it: what the address says, and what libpq's environment variables say where the address
/// does not.
struct PostgresAddress {
    /// What is to be connected with besides the address.
    private(set) var additions: [(String, String)] = []
    /// Whether the address itself holds a password, which then stands in an argument list or a file of settings.
    let hasPassword: Bool

    /// Reads an address: a URL or keywords.
    ///
    /// A database on another machine has to show a certificate for its name that an authority of this machine has signed;
    /// messages and credentials go there.
    ///
    /// - Throws: ``InboxError`` for what libpq cannot read, and for an address that asks for less than that.
    init(_ target: String) throws(InboxError) {
        // libpq's message quotes what it cannot read, and so is not looked at.
        guard let options = PQconninfoParse(target, nil) else {
            throw InboxError(.badAddress, step: "reading the database's address")
        }
        defer { PQconninfoFree(options) }
        let said = Self.values(options)
        let defaults = PQconndefaults()
        defer { PQconninfoFree(defaults) }
        let usual = defaults.map { Self.values($0) } ?? [:]
        self.hasPassword = said["password"] != nil
        func value(_ name: String) -> String? { said[name] ?? usual[name] }

        if said["password"] == nil, usual["password"] == nil, said["passfile"] == nil,
            environmentVariable("PGPASSFILE") == nil, let directory = environmentVariable("CREDENTIALS_DIRECTORY"),
            access(directory + "/pgpass", R_OK) == 0
        {
            self.additions.append(("passfile", directory + "/pgpass"))
        }
        let hosts = [value("host"), value("hostaddr")].compactMap { $0 }
        // What a service file says is not known here.
        let hasService = said["service"] != nil || environmentVariable("PGSERVICE") != nil
        let isKnown = !hasService || said["host"] != nil || said["hostaddr"] != nil
        guard !isKnown || !hosts.allSatisfy({ $0.split(separator: ",").allSatisfy(Self.isLocal) }) else { return }
        // Without a word libpq would do without encryption if the server has none.
        let mode = said["sslmode"] ?? environmentVariable("PGSSLMODE")
        guard mode == nil || mode == "verify-full" else {
            throw InboxError(.badAddress, step: "using a database on another machine with sslmode=\(mode ?? "")")
        }
        self.additions.append(("sslmode", "verify-full"))
        let authorities = "/etc/ssl/certs/ca-certificates.crt"
        if said["sslrootcert"] == nil, environmentVariable("PGSSLROOTCERT") == nil, access(authorities, R_OK) == 0 {
            self.additions.append(("sslrootcert", authorities))
        }
    }

    private static func isLocal(_ host: Substring) -> Bool {
        // A path, or a name in the abstract namespace, is a unix socket's.
        host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return values
    }
}
#endif
