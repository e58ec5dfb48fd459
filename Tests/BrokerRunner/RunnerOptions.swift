import Faults

struct RunnerOptions {
    static let usage = """
        usage: script/brokers [--quick] [BROKER ...] [SCENARIO ...]
        brokers: \(BrokerKind.allCases.map(\.rawValue).joined(separator: " "))
        scenarios: \(Scenario.forBrokers(.full).map(\.name).joined(separator: " "))
        """

    private(set) var kinds: [BrokerKind] = []
    private(set) var scenarios: [Scenario]
    /// Limit of the wait for a broker's redelivery; `nil` skips that measurement.
    private(set) var patience: Duration?

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
        // NATS redelivers sooner than this.
        if size == .full, names.isEmpty { self.patience = .seconds(35) }
    }
}
