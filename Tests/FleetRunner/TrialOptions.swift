struct TrialOptions {
    static let usage =
        "usage: script/fleet [--agents N] [--gateways N] [--seconds N] [--seed N] [--only FAULT,...]\n"
        + "  default: 1000 agents, 3 gateways, 90 s; faults: "
        + Fault.allCases.map(\.rawValue).joined(separator: ", ")

    private(set) var agents = 1000
    private(set) var gateways = 3
    private(set) var seconds = 90
    private(set) var seed: UInt64 = 1
    private(set) var faults = Fault.allCases

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            if argument == "--only" {
                let faults = value.split(separator: ",").map { Fault(rawValue: String($0)) }
                self.faults = faults.compactMap { $0 }
                guard !faults.isEmpty, self.faults.count == faults.count else { return nil }
                continue
            }
            guard let number = Int(value), number > 0 else { return nil }
            switch argument {
            case "--agents": self.agents = number
            case "--gateways": self.gateways = number
            case "--seconds": self.seconds = number
            case "--seed": self.seed = UInt64(number)
            default: return nil
            }
        }
    }
}
