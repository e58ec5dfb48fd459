#if Postgres
import CPostgres
import Glibc
import KiiPushCore

/// An address of a database, as libpq resolves it: from the address itself, a service file and environment variables.
struct PostgresAddress {
    private(set) var additions: [(String, String)] = []
    /// Whether the address itself holds a secret, such as a password.
    let hasPassword: Bool

    /// The allowed values of each option for a connection to another machine. The first value replaces libpq's default
    /// (`usual`) unless the address sets the option.
    ///
    /// - Source: "Parameter Key Words" in the manual of libpq. GSSAPI encryption would replace TLS and its certificate.
    private static let demands: [(option: String, values: [String], usual: String)] = [
        ("sslmode", ["verify-full"], "prefer"), ("gssencmode", ["disable"], "prefer"), ("sslcompression", ["0"], ""),
        ("ssl_min_protocol_version", ["TLSv1.2", "TLSv1.3"], ""),
        // No value is allowed: this option writes the keys of the encryption to a file.
        ("sslkeylogfile", [], ""),
    ]

    /// A copy of systemd's credential `pgpass`; `nil` if it is missing or cannot be copied.
    ///
    /// libpq refuses a password file with group permissions. systemd protects credentials by access control lists,
    /// which appear as group permissions (systemd.exec(5)).
    private static let credential: FileDescriptor? = {
        guard let directory = environmentVariable("CREDENTIALS_DIRECTORY"),
            let bytes = try? TrustedFile.read(directory + "/pgpass"),
            let copy = try? FileDescriptor.memoryFile(holding: bytes), fchmod(copy.number, 0o600) == 0
        else { return nil }
        return copy
    }()

    /// Reads an address: a URL or keywords.
    ///
    /// A database on another machine must show a certificate for its name, signed by an authority that this machine
    /// trusts: the database gets messages and credentials. `hostaddr`, or else `host`, names the machine.
    ///
    /// - Throws: ``InboxError`` for an unreadable address and for weaker options.
    init(_ target: String) throws(InboxError) {
        // libpq's error quotes the address, which may hold a password, so the error is dropped.
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
                // Adds the required value: an empty value in the address has removed libpq's default, as for the oldest
                // allowed version of TLS.
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

    private static func resolve(_ target: String) throws(InboxError) -> [String: String] {
        // The invalid value of `channel_binding` makes libpq resolve all options and then stop before it connects.
        // With a password given, libpq reads no password file.
        let nonsense = ("channel_binding", "?")
        let probe = ["dbname", "password", nonsense.0].withPointers { keys in
            [target, "-", nonsense.1].withPointers { values in PQconnectStartParams(keys, values, 1) }
        }
        defer { PQfinish(probe) }
        let options = PQconninfo(probe).map { Self.values($0).all } ?? [:]
        guard options[nonsense.0] == nonsense.1 else {
            let words = String(cString: PQerrorMessage(probe)).split(whereSeparator: \.isNewline).joined(
                separator: "; ")
            throw InboxError(.badAddress, step: "reading the database's address (\(words))")
        }
        return options
    }

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
        // Unix sockets: a path, an abstract name, or no host. `localhost` is trusted to name this machine.
        if place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") { return true }
        if place == "localhost" || place == "::1" { return true }
        var number = in_addr()
        return inet_pton(AF_INET, String(place), &number) == 1 && UInt32(bigEndian: number.s_addr) >> 24 == 127
    }

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

extension [String] {
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        var bytes: [CChar] = []
        let starts = self.map { text in
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
