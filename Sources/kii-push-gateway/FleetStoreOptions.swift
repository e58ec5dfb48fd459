#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

/// The database of a fleet: the same in every command that needs one.
struct FleetStoreOptions: ParsableArguments {
    @Option(
        value: "URL",
        help: "The database: postgres://USER@HOST/NAME. The password is PGPASSFILE's. Repeat it for several databases. "
            + "Default: KII_PUSH_STORE, with spaces between several.")
    var store: [String] = []

    static let environment: [EnvironmentVariable] = EnvironmentVariable.ofGateways + [.credentialsDirectory]
    static let exitCodes: [ExitStatus] = [.unreachable, .inputOutput, .configuration]
    /// The exit codes of a command that looks something up by name or number.
    static let lookupExitCodes = FleetStoreOptions.exitCodes + [.missingInput]

    /// - Throws: ``CommandFailure`` with exit 78 without a database, or for an address with a password.
    func required() throws -> FleetStore {
        let addresses = self.store.isEmpty ? Self.addresses(EnvironmentVariable.store.text ?? "") : self.store
        guard !addresses.isEmpty else {
            throw CommandFailure(
                .configuration, "which database? '--store' and KII_PUSH_STORE are missing",
                hint: "for instance: --store postgres://db.example.org/kii")
        }
        let store = FleetStore.postgres(addresses)
        guard !store.holdsPassword else {
            throw CommandFailure(
                .configuration, "a password does not belong into the database's address, where others may see it",
                hint: "put it into a file of mode 0600 that PGPASSFILE names, as HOST:PORT:DATABASE:USER:PASSWORD")
        }
        return store
    }

    /// Splits the text into URLs. Keywords (`host=… dbname=…`) contain spaces as well, but name one database.
    private static func addresses(_ text: String) -> [String] {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return words.allSatisfy { $0.contains(bytesOf: "://") } ? words : [text]
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
