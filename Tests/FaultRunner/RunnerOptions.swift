import Faults
import KiiPushCore

struct RunnerOptions {
    static let usage = """
        usage: script/faults [--quick] [--seed N] [--transport tcp|websocket]
                             [--peer|--peer-qos2 NAME=PROGRAM[,ARGUMENT...]]... [SCENARIO ...]
        scenarios: \(Scenario.all(.full).map(\.name).joined(separator: " "))
        """

    private(set) var seed: UInt64 = 1
    private(set) var usesWebSocket = false
    /// The scenarios in their order, each with its client; `nil` is this project's agent.
    private(set) var runs: [(Scenario, ReceiverKind?)] = []

    init?(_ arguments: some Sequence<String>) {
        var size = Scenario.Size.full
        var names: [String] = []
        var peers: [ReceiverKind] = []
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": size = .quick
            case "--seed":
                guard let seed = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
                self.seed = seed
            case "--transport":
                guard let name = rest.popFirst(), ["tcp", "websocket"].contains(name) else { return nil }
                self.usesWebSocket = name == "websocket"
            case "--peer", "--peer-qos2":
                let qos: QoS = argument == "--peer" ? .atLeastOnce : .exactlyOnce
                guard let peer = rest.popFirst().flatMap({ RunnerOptions.peer($0, qos) }) else { return nil }
                peers.append(peer)
            default: names.append(argument)
            }
        }
        let scenarios = Scenario.all(size)
        guard names.allSatisfy({ name in scenarios.contains { $0.name == name } }) else { return nil }
        // If other clients are named but no scenarios, the default is the scenarios that suit those clients.
        if names.isEmpty, !peers.isEmpty { names = Scenario.forPeers(size).map(\.name) }
        let isWanted = { (scenario: Scenario) in
            names.isEmpty || names.contains(scenario.name) || scenario.controlled.map(names.contains) ?? false
        }
        self.runs = scenarios.filter(isWanted).map { ($0, nil) }
        for scenario in Scenario.forPeers(size).filter(isWanted) { self.runs += peers.map { (scenario, $0) } }
    }

    private static func peer(_ text: String, _ qos: QoS) -> ReceiverKind? {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        let words = parts[1].split(separator: ",").map(String.init)
        guard let program = words.first else { return nil }
        return .peer(parts[0], program: program, arguments: Array(words.dropFirst()), qos: qos)
    }
}
