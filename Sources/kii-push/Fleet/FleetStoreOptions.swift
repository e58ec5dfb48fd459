import KiiPushPostgres

#if Postgres
/// Which database a fleet has: the same in every command that needs one.
struct FleetStoreOptions: ParsableArguments {
    @Option(
        value: "URL",
        help: "The database: postgres://USER@HOST/NAME. The password is PGPASSFILE's. Repeat it for several databases. "
            + "Default: KII_PUSH_STORE, with spaces between several.")
    var store: [String] = []

    static let environment = EnvironmentVariable.ofFleet + [.credentialsDirectory]
    static let exitCodes: [ExitStatus] = [.unreachable, .inputOutput, .configuration]

    /// - Throws: ``CommandFailure`` with exit 78 where there is none, or where it holds a password.
    func required() throws -> FleetStore {
        let addresses = self.store.isEmpty ? Self.addresses(EnvironmentVariable.store.text ?? "") : self.store
        guard !addresses.isEmpty else {
            throw CommandFailure(
                .configuration, "which database? '--store' and KII_PUSH_STORE are missing",
                hint: "for instance: --store postgres://db.example.org/kii")
        }
        return try Self.store(at: addresses)
    }

    static func store(at addresses: [String]) throws -> FleetStore {
        let store = FleetStore.postgres(addresses)
        guard !store.holdsPassword else {
            throw CommandFailure(
                .configuration, "a password does not belong into the database's address, where others may see it",
                hint: "put it into a file of mode 0600 that PGPASSFILE names, as HOST:PORT:DATABASE:USER:PASSWORD")
        }
        return store
    }

    /// Keywords (`host=… dbname=…`) have spaces as well, and are one database.
    private static func addresses(_ text: String) -> [String] {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return words.allSatisfy { $0.contains("://") } ? words : [text]
    }
}

/// The options of every command of a fleet.
struct FleetCommandOptions: ParsableArguments {
    @OptionGroup(title: "Store") var store: FleetStoreOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var console: Console { self.output.console }

    func fleet() throws -> Fleet { Fleet(try self.store.required()) }
}
#endif

/// The option that names a fleet's database instead of an inbox on this machine. A build without PostgreSQL lacks it.
struct FleetInboxOptions: ParsableArguments {
    #if Postgres
    @Option(
        value: "URL",
        help: "What gateways keep in this database, postgres://USER@HOST/NAME, and not what is on this machine.")
    var store: [String] = []

    func validate() throws {
        if self.store.count > 1 { throw ValidationError("messages are looked at in one database: give '--store' once") }
    }

    /// `nil` for the inbox of this machine.
    func fleet() throws -> Fleet? {
        self.store.isEmpty ? nil : Fleet(try FleetStoreOptions.store(at: self.store))
    }
    #else
    let store: [String] = []
    #endif
}

extension CommandConfiguration {
    /// An example, in a build with PostgreSQL.
    static func ofFleet(_ purpose: String, _ line: String) -> [(purpose: String, line: String)] {
        self.ofFleet([(purpose, line)])
    }

    /// A paragraph, in a build with PostgreSQL.
    static func ofFleet(_ paragraph: String) -> [String] { self.ofFleet([paragraph]) }

    private static func ofFleet<Part>(_ parts: [Part]) -> [Part] {
        #if Postgres
        parts
        #else
        []
        #endif
    }
}
