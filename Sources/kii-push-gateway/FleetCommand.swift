#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Declares and removes agents of a fleet, and shows and drains its gateways.",
        examples: [
            ("Who has what, and how much waits", "kii-push-gateway fleet status"),
            ("Declare agents", "kii-push-gateway fleet add agents.json"),
            ("Before an upgrade of one gateway", "kii-push-gateway fleet drain gateway-2"),
        ],
        discussion: [
            "A fleet is any number of 'kii-push-gateway run --store URL' that share a database and the agents that are declared there."
        ],
        subcommands: [
            FleetStatusCommand.self, FleetListCommand.self, FleetAddCommand.self, FleetRemoveCommand.self,
            FleetDrainCommand.self,
        ]
    )
}

struct FleetStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows each gateway: its process, its share, and what waits there.",
        examples: [("What waits, for a program", "kii-push-gateway fleet status --json | jq .unhandled")],
        exitCodes: FleetStoreOptions.exitCodes, environment: FleetStoreOptions.environment
    )

    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let fleet = try self.options.fleet()
        let status = try await fleet.status()
        let unreachable = status.unreachable.sorted { $0.key < $1.key }
        let console = self.options.console
        for gateway in status.gateways {
            let place = fleet.hasOneDatabase ? "" : "database \(gateway.database + 1), "
            try console.line(place + gateway.text)
            try console.object("gateway", gateway.members)
        }
        try console.object(
            "fleet",
            [
                ("free_shards", JSONValue(status.freeShards)),
                ("agents_without_gateway", JSONValue(status.agentsWithoutGateway)),
                (
                    "unreachable",
                    JSONValue(unreachable.map { ["database": JSONValue($0.key + 1), "reason": JSONValue($0.value)] })
                ),
            ])
        for (database, reason) in unreachable {
            console.warning("database \(database + 1): \(reason.terminalSafe)")
        }
        if status.freeShards > 0 {
            try console.line(
                "nobody: \(status.freeShards.text(of: "shard")), \(status.agentsWithoutGateway.text(of: "agent"))")
        }
        if !unreachable.isEmpty { throw SilentExit.status(.unreachable) }
    }
}

struct FleetListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the agents that are declared.",
        examples: [("How many?", "kii-push-gateway fleet list | wc -l")],
        exitCodes: FleetStoreOptions.exitCodes, environment: FleetStoreOptions.environment
    )

    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        for name in try await self.options.fleet().agents() {
            try self.options.console.line(name)
            try self.options.console.object("agent", ["name": name])
        }
    }
}

struct FleetAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Declares agents, or changes what was declared of those with their names.",
        examples: [
            ("Those of a file", "kii-push-gateway fleet add agents.json"),
            (
                "A thing",
                #"echo '{"name":"lamp-1","app":{"id":"a","key":"k","baseURL":"https://api.kii.com/api"},"account":{"#
                    + #""type":"thing","vendorThingID":"lamp-1","password":"…"}}' | kii-push-gateway fleet add -"#
            ),
        ],
        discussion: [
            "An agent is an object with name, app (id, key, baseURL), account (type pseudoUser, user or thing, and what it "
                + "signs in with) and subscriptions ([{\"topic\": \"alerts\"}, {\"bucket\": \"orders\", \"scope\": \"me\"}]); "
                + "FILE holds one, or a list. What it signs in with is kept in the database.",
            "The gateway that has its shard starts it within 3 s.",
        ],
        exitCodes: FleetStoreOptions.exitCodes + [.badInput, .missingInput],
        environment: FleetStoreOptions.environment
    )

    @Argument(value: "FILE", help: "A file of JSON; '-' reads standard input.", completion: .file) var file: String
    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let fleet = try self.options.fleet()
        let agents = try self.agents()
        try await fleet.add(agents)
        for agent in agents {
            try self.options.console.result("> \(agent.name) is declared.")
            try self.options.console.object("agent", ["name": agent.name])
        }
    }

    private func agents() throws -> [PushAgent.Configuration] {
        let bytes = try InputFile.read(self.file)
        do throws(JSONMemberError) {
            let file = try JSONDocument(strict: bytes)
            let agents = file.value.kind == .array ? try file.elements() : [file]
            return try agents.map { agent throws(JSONMemberError) in
                // A single agent has a default name, but an agent of a fleet needs an explicit one.
                _ = try agent.required("name")
                return try PushAgent.Configuration(agent)
            }
        } catch {
            throw CommandFailure(.badInput, error, in: self.file)
        }
    }
}

struct FleetRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Has agents stopped and forgotten.",
        examples: [("One", "kii-push-gateway fleet remove lamp-1")],
        discussion: [
            "Messages that no handler has finished wait for an agent that is declared for the same user or thing. The cloud "
                + "keeps the installation, and goes on sending to it."
        ],
        exitCodes: FleetStoreOptions.lookupExitCodes, environment: FleetStoreOptions.environment
    )

    @Argument(value: "NAME", help: "The names of agents.") var names: [String]
    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let fleet = try self.options.fleet()
        for name in self.names {
            guard try await fleet.remove(agent: name) else {
                throw CommandFailure(.missingInput, "no agent is declared as \(name)")
            }
            try self.options.console.result("> \(name) is removed by its gateway within a few seconds.")
            try self.options.console.object("agent", ["name": name])
        }
    }
}

struct FleetDrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Has a gateway hand over all that it has, until its process starts again.",
        examples: [("Before an upgrade", "kii-push-gateway fleet drain gateway-2")],
        exitCodes: FleetStoreOptions.lookupExitCodes, environment: FleetStoreOptions.environment
    )

    @Argument(value: "GATEWAY", help: "The gateway's name ('kii-push-gateway fleet status').") var gateway: String
    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        guard try await self.options.fleet().drain(gateway: self.gateway) else {
            throw CommandFailure(.missingInput, "there is no gateway \(self.gateway)")
        }
        try self.options.console.result(
            "> \(self.gateway) hands over; 'kii-push-gateway fleet status' shows how far it is.")
        try self.options.console.object("drained", ["gateway": self.gateway])
    }
}

extension FleetStatus.Gateway {
    fileprivate var text: String {
        let state = self.endedFor.map { "\(self.state) for \($0.text)" } ?? self.state
        let lag = self.lag.map { ", the oldest for \($0.text)" } ?? ""
        return "\(self.name): \(state), process \(self.processID) on \(self.host), \(self.shards.text(of: "shard")), "
            + "\(self.agents.text(of: "agent")), \(self.unhandled) unhandled\(lag)"
    }

    private var state: String {
        self.isAlive && self.isDraining ? "draining" : self.condition.rawValue
    }

    fileprivate var members: [(String, JSONValue)] {
        JSONMembers(present: [
            "database": self.database + 1, "name": self.name, "host": self.host, "pid": self.processID,
            "state": self.state, "ended_ms": self.endedFor.map(\.milliseconds), "alive": self.isAlive,
            "draining": self.isDraining, "shards": self.shards, "agents": self.agents, "unhandled": self.unhandled,
            "lag_ms": self.lag.map(\.milliseconds), "declared_dead": self.timesDeclaredDead,
            "shards_taken_over": self.shardsTakenOver,
        ])
    }
}
#endif
