#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Makes the tables of a fleet's database, and looks whether they are there.",
        examples: [
            (
                "In a new database, as its owner",
                "kii-push-gateway store init --store postgres://owner@db.example.org/kii"
            ),
            ("As a gateway", "kii-push-gateway store check --store postgres://gateway@db.example.org/kii"),
        ],
        subcommands: [StoreInitCommand.self, StoreCheckCommand.self]
    )
}

struct StoreInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Makes the tables in a database that has none.",
        examples: [
            ("As the database's owner", "kii-push-gateway store init --store postgres://owner@db.example.org/kii")
        ],
        exitCodes: FleetStoreOptions.exitCodes + [.cannotCreate], environment: FleetStoreOptions.environment
    )

    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let fleet = try self.options.fleet()
        guard try await fleet.schemaVersion() == 0 else {
            throw CommandFailure(
                .cannotCreate, "the database has the tables already",
                hint: "'kii-push-gateway store check' says whether a gateway can use them")
        }
        try await fleet.makeTables()
        try await fleet.tellSchema(self.options.console)
    }
}

struct StoreCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Fails unless a gateway can use the database: reach it, find this version's tables, change rows.",
        examples: [("As a gateway", "kii-push-gateway store check --store postgres://gateway@db.example.org/kii")],
        exitCodes: FleetStoreOptions.exitCodes, environment: FleetStoreOptions.environment
    )

    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let fleet = try self.options.fleet()
        try await fleet.check()
        try await fleet.tellSchema(self.options.console)
    }
}

extension Fleet {
    fileprivate func tellSchema(_ console: Console) async throws {
        let version = try await self.schemaVersion()
        try console.result("> The database has the tables, in version \(version).")
        try console.object("schema", ["version": version])
    }
}
#endif
