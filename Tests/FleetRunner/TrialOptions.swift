/// What the command line asks for.
struct TrialOptions {
    static let usage =
        "usage: script/fleet [--agents N] [--gateways N] [--seconds N] [--seed N]   default: 1000 agents, 3 gateways, 90 s"

    private(set) var agents = 1000
    private(set) var gateways = 3
    private(set) var seconds = 90
    private(set) var seed: UInt64 = 1

    /// `nil` when the arguments make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard let number = rest.popFirst().flatMap({ Int($0) }), number > 0 else { return nil }
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
