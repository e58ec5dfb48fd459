import KiiPushPostgres

/// Which database a fleet has: the same in every command that needs one.
struct FleetStoreOptions: ParsableArguments {
    @Option(
        value: "URL",
        help: "The database: postgres://USER@HOST/NAME. The password is PGPASSFILE's. Default: KII_PUSH_STORE.")
    var store: String?

    static let environment: [EnvironmentVariable] = [.store, .passwordFile, .credentialsDirectory]
    static let exitCodes: [ExitStatus] = [.unreachable, .inputOutput, .configuration]

    /// What is said where libpq is not a part of this program.
    static let missing = CommandFailure(
        .unreachable, "this kii-push was built without PostgreSQL",
        hint: "build it with: swift build -c release --traits Postgres (needs libpq-dev)")

    #if Postgres
    /// - Throws: ``CommandFailure`` with exit 78 where there is none, or where it holds a password.
    func required() throws -> FleetStore {
        guard let address = self.store ?? EnvironmentVariable.store.text else {
            throw CommandFailure(
                .configuration, "which database? '--store' and KII_PUSH_STORE are missing",
                hint: "for instance: --store postgres://kii@db.example.org/kii")
        }
        let store = FleetStore.postgres(address)
        guard !store.holdsPassword else {
            throw CommandFailure(
                .configuration, "a password does not belong into the database's address, where others may see it",
                hint: "put it into a file of mode 0600 that PGPASSFILE names, as HOST:PORT:DATABASE:USER:PASSWORD")
        }
        return store
    }
    #endif
}
