#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct GatewayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kii-push-gateway",
        abstract: "Receives the messages of many agents, and looks after the fleet of gateways that share a database.",
        examples: [
            ("Make the tables, as the database's owner", "kii-push-gateway store init --store postgres://owner@db/kii"),
            ("Declare agents", "kii-push-gateway fleet add agents.json"),
            ("Receive", "kii-push-gateway run --store postgres://gateway@db/kii --exec ./on-push"),
            ("What is wrong?", "kii-push-gateway doctor --store postgres://gateway@db/kii"),
        ],
        subcommands: [
            RunCommand.self, FleetCommand.self, StoreCommand.self, InboxCommand.self, TraceCommand.self,
            DoctorCommand.self,
        ],
        version: UserAgent.version
    )
}

@main
enum Program {
    static func main() async { await GatewayCommand.main() }
}
#else
import Glibc

/// The program in a build without the trait `Postgres`: it cannot connect to a database.
@main
enum Program {
    static func main() {
        let text = "kii-push-gateway: it was built without PostgreSQL; build it with '--traits Postgres'\n"
        _ = write(STDERR_FILENO, text, text.utf8.count)
        exit(78)
    }
}
#endif
