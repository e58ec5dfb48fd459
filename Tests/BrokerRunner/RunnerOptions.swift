import Faults

/// What the command line asks for.
struct RunnerOptions {
    static let usage = """
        usage: script/brokers [--quick] [BROKER ...] [SCENARIO ...]
        brokers: \(BrokerKind.allCases.map(\.rawValue).joined(separator: " "))
        scenarios: \(Scenario.forBrokers(.full).map(\.name).joined(separator: " "))
        """

    private(set) var kinds: [BrokerKind] = []
    private(set) var scenarios: [Scenario]
    /// How long is waited for a broker that sends something again; `nil` where that is not looked at.
    private(set) var patience: Duration?

    /// `nil` when the arguments make no sense.
    init?(_ arguments: some Sequence<String>) {
        var names: [String] = []
        var size = Scenario.Size.full
        for argument in arguments {
            if argument == "--quick" {
                size = .quick
            } else if let kind = BrokerKind(rawValue: argument) {
                self.kinds.append(kind)
            } else {
                names.append(argument)
            }
        }
        if self.kinds.isEmpty { self.kinds = BrokerKind.allCases }
        self.scenarios = Scenario.forBrokers(size)
        guard names.allSatisfy({ name in self.scenarios.contains { $0.name == name } }) else { return nil }
        if !names.isEmpty { self.scenarios.removeAll { !names.contains($0.name) } }
        // Longer than NATS waits.
        if size == .full, names.isEmpty { self.patience = .seconds(35) }
    }
}
