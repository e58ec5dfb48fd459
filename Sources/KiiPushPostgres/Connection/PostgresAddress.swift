#if Postgres
import CPostgres
import Glibc
import KiiPushCore

/// Where a database is, as libpq reads it: what the address says, then a service file, then libpq's environment variables.
struct PostgresAddress {
    /// What is to be connected with besides the address.
    private(set) var additions: [(String, String)] = []
    /// Whether the address itself holds a password, which then stands in an argument list or a file of settings.
    let hasPassword: Bool

    /// The values that an option may have for a connection to another machine. The first takes the place of libpq's usual one,
    /// unless the address asks for that. No other option of libpq's can weaken a connection whose server has shown a
    /// certificate for its name.
    ///
    /// - Source: "Parameter Key Words" in the manual of libpq. GSSAPI takes the place of TLS, and of its certificate.
    private static let demands: [(option: String, values: [String], usual: String)] = [
        ("sslmode", ["verify-full"], "prefer"), ("gssencmode", ["disable"], "prefer"), ("sslcompression", ["0"], ""),
        ("ssl_min_protocol_version", ["TLSv1.2", "TLSv1.3"], ""),
        // The secrets of the connection, for whoever listens.
        ("sslkeylogfile", [], ""),
    ]

    /// A copy of the credential `pgpass` for this process alone; `nil` where systemd hands over none.
    ///
    /// libpq takes no password file that its mode opens to the group. The service manager's own files are closed by access
    /// control lists, and their modes show such bits (systemd.exec(5)).
    private static let credential: FileDescriptor? = {
        guard let directory = environmentVariable("CREDENTIALS_DIRECTORY"),
            let bytes = try? TrustedFile.read(directory + "/pgpass"),
            let copy = try? FileDescriptor.memoryFile(holding: bytes), fchmod(copy.number, 0o600) == 0
        else { return nil }
        return copy
    }()

    /// Reads an address: a URL or keywords.
    ///
    /// A database on another machine has to show a certificate for its name that an authority of this machine has signed;
    /// messages and credentials go there. The address that libpq connects to decides, and not a name.
    ///
    /// - Throws: ``InboxError`` for what libpq cannot read, and for an address that asks for less than that.
    init(_ target: String) throws(InboxError) {
        // libpq's message quotes what it cannot read, and so is not looked at.
        guard let parsed = PQconninfoParse(target, nil) else {
            throw InboxError(.badAddress, step: "reading the database's address")
        }
        let (said, secrets) = Self.values(parsed)
        self.hasPassword = !secrets.isEmpty
        let options = try Self.resolve(target)
        if options["passfile"] == nil, let file = Self.credential {
            self.additions.append(("passfile", "/proc/self/fd/\(file.number)"))
        }
        guard let machine = Self.otherMachine(options) else { return }
        for (option, values, usual) in Self.demands {
            guard let value = options[option] else {
                // An empty value takes away libpq's own, such as the oldest TLS.
                if let first = values.first { self.additions.append((option, first)) }
                continue
            }
            guard !values.contains(value) else { continue }
            guard value == usual, said[option] == nil else {
                let place = "on another machine (\(machine))"
                throw InboxError(.badAddress, step: "using a database \(place) with \(option)=\(value)")
            }
            self.additions.append((option, values[0]))
        }
        let authorities = "/etc/ssl/certs/ca-certificates.crt"
        if options["sslrootcert"] == nil, access(authorities, R_OK) == 0 {
            self.additions.append(("sslrootcert", authorities))
        }
    }

    /// The options that a connection would have, the password aside.
    private static func resolve(_ target: String) throws(InboxError) -> [String: String] {
        // libpq reads everything, finds a word that is none, and connects to nobody. With a password it looks for no other.
        let nonsense = ("channel_binding", "?")
        let probe = PostgresTexts.with(["dbname", "password", nonsense.0]) { keys in
            PostgresTexts.with([target, "-", nonsense.1]) { values in PQconnectStartParams(keys, values, 1) }
        }
        defer { PQfinish(probe) }
        let options = PQconninfo(probe).map { Self.values($0).all } ?? [:]
        guard options[nonsense.0] == nonsense.1 else {
            // Such as a service that is in no file.
            let words = String(cString: PQerrorMessage(probe)).split(whereSeparator: \.isNewline).joined(
                separator: "; ")
            throw InboxError(.badAddress, step: "reading the database's address (\(words))")
        }
        return options
    }

    /// The first place to connect to that is not on this machine; `nil` where all are.
    private static func otherMachine(_ options: [String: String]) -> Substring? {
        func list(_ option: String) -> [Substring] {
            (options[option] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        }
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        return (0..<max(hosts.count, addresses.count)).lazy.map { place in
            let address = place < addresses.count ? addresses[place] : ""
            return address.isEmpty && place < hosts.count ? hosts[place] : address
        }.first { !Self.isLocal($0) }
    }

    private static func isLocal(_ place: Substring) -> Bool {
        // A path, or a name in the abstract namespace, is a unix socket's, and so is an empty one. That `localhost` leads
        // to this machine is its administrator's to see to.
        if place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") { return true }
        if place == "localhost" || place == "::1" { return true }
        var number = in_addr()
        return inet_pton(AF_INET, String(place), &number) == 1 && UInt32(bigEndian: number.s_addr) >> 24 == 127
    }

    /// Reads options and lets go of them: all that have a value, and the names of all that libpq shows as stars.
    private static func values(
        _ options: UnsafeMutablePointer<PQconninfoOption>
    ) -> (all: [String: String], secrets: [String]) {
        defer { PQconninfoFree(options) }
        var all: [String: String] = [:]
        var secrets: [String] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                all[String(cString: keyword)] = String(cString: value)
                if let hint = option.pointee.dispchar, hint.pointee == 0x2A { secrets.append(String(cString: keyword)) }
            }
            option += 1
        }
        return (all, secrets)
    }
}

/// Texts for libpq.
enum PostgresTexts {
    /// Calls `body` with the texts as C has them, and a null pointer behind them.
    static func with<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        let starts = texts.map { text in
            defer { bytes.append(contentsOf: text.utf8CString) }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { bytes in
            let pointers = starts.map { bytes.baseAddress?.advanced(by: $0) } + [nil]
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}
#endif
