#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct FleetStoreOptions: ParsableArguments {
    @Option(
        value: "URL",
        help: "The database: postgres://USER@HOST/NAME. The password is PGPASSFILE's. Repeat it for several databases. "
            + "Default: KII_PUSH_STORE, with spaces between several.")
    var store: [String] = []

    static let environment: [EnvironmentVariable] = EnvironmentVariable.ofGateways + [.credentialsDirectory]
    static let exitCodes: [ExitStatus] = [.unreachable, .inputOutput, .configuration]
    static let lookupExitCodes = FleetStoreOptions.exitCodes + [.missingInput]

    /// - Throws: ``CommandFailure`` with exit 78 if no database is given, or if an address has a password.
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

    /// Splits the text into URLs. A text with keywords (`host=… dbname=…`) contains spaces too, but is a single
    /// address.
    private static func addresses(_ text: String) -> [String] {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return words.allSatisfy { $0.contains(bytesOf: "://") } ? words : [text]
    }
}

struct FleetCommandOptions: ParsableArguments {
    @OptionGroup(title: "Store") var store: FleetStoreOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var console: Console { self.output.console }

    func fleet() throws -> Fleet { Fleet(try self.store.required()) }
}
#endif
