#if Postgres
import CPostgres
import Glibc
import KiiPushCore

/// The place of a database, as libpq reads it: first from the address, then from a service file, then from libpq's
/// environment variables.
struct PostgresAddress {
    /// Options for libpq in addition to the address.
    private(set) var additions: [(String, String)] = []
    /// Whether the address itself holds a password, which then stands in an argument list or a file of settings.
    let hasPassword: Bool

    /// The values that each option may have for a connection to another machine. The first value replaces libpq's usual
    /// one, unless the address itself sets that. No other option of libpq can weaken a connection whose server has
    /// shown a certificate for its name.
    ///
    /// - Source: "Parameter Key Words" in the manual of libpq. GSSAPI would replace TLS, and its certificate.
    private static let demands: [(option: String, values: [String], usual: String)] = [
        ("sslmode", ["verify-full"], "prefer"), ("gssencmode", ["disable"], "prefer"), ("sslcompression", ["0"], ""),
        ("ssl_min_protocol_version", ["TLSv1.2", "TLSv1.3"], ""),
        // Writes the connection's secrets to a file, for anyone who listens.
        ("sslkeylogfile", [], ""),
    ]

    /// A copy of the credential `pgpass` for this process only; `nil` where systemd provides none.
    ///
    /// libpq refuses a password file whose mode opens it to the group. The service manager protects its own files by
    /// access control lists, and their modes show such bits (systemd.exec(5)).
    private static let credential: FileDescriptor? = {
        guard let directory = environmentVariable("CREDENTIALS_DIRECTORY"),
            let bytes = try? TrustedFile.read(directory + "/pgpass"),
            let copy = try? FileDescriptor.memoryFile(holding: bytes), fchmod(copy.number, 0o600) == 0
        else { return nil }
        return copy
    }()

    /// Reads an address: a URL or keywords.
    ///
    /// A database on another machine has to show a certificate for its name, signed by an authority of this machine,
    /// since it gets messages and credentials. The address that libpq connects to decides, not a name.
    ///
    /// - Throws: ``InboxError`` for an address that libpq cannot read, and for one with weaker options.
    init(_ target: String) throws(InboxError) {
        // libpq's message quotes the unreadable address, so it is not used.
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
                // An empty value removes libpq's own, such as the oldest TLS.
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

    /// The options that a connection would have, without the password.
    private static func resolve(_ target: String) throws(InboxError) -> [String: String] {
        // libpq reads all options, finds an invalid value, and connects to nobody. With a password it looks for no
        // other.
        let nonsense = ("channel_binding", "?")
        let probe = PostgresTexts.with(["dbname", "password", nonsense.0]) { keys in
            PostgresTexts.with([target, "-", nonsense.1]) { values in PQconnectStartParams(keys, values, 1) }
        }
        defer { PQfinish(probe) }
        let options = PQconninfo(probe).map { Self.values($0).all } ?? [:]
        guard options[nonsense.0] == nonsense.1 else {
            // For example, no file has the service.
            let words = String(cString: PQerrorMessage(probe)).split(whereSeparator: \.isNewline).joined(
                separator: "; ")
            throw InboxError(.badAddress, step: "reading the database's address (\(words))")
        }
        return options
    }

    /// The first place of a connection that is not on this machine; `nil` if all are.
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
        // A path, a name in the abstract namespace and an empty place are unix sockets. The machine's administrator has
        // to see that `localhost` leads to this machine.
        if place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") { return true }
        if place == "localhost" || place == "::1" { return true }
        var number = in_addr()
        return inet_pton(AF_INET, String(place), &number) == 1 && UInt32(bigEndian: number.s_addr) >> 24 == 127
    }

    /// Reads and frees options. Returns all with a value, and the names of all secret ones, which libpq shows as stars.
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

enum PostgresTexts {
    /// Calls `body` with the texts as C strings, followed by a null pointer.
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
