enum Fault: String, CaseIterable, Sendable {
    case kill, freeze, cut, leave, crash, away, broker, failover

    var title: String {
        switch self {
        case .kill: "gateway killed"
        case .freeze: "gateway frozen past its lease"
        case .cut: "gateway cut off from the database past its lease"
        case .leave: "gateway stopped by SIGTERM"
        case .crash: "database crashed"
        case .away: "database out of reach of all for 16 s"
        case .broker: "broker frozen for 8 s"
        case .failover: "database lost, its synchronous standby took over"
        }
    }

    var isOfAGateway: Bool { [.kill, .freeze, .cut, .leave].contains(self) }
    /// Whether the hit gateway has to notice that other gateways have taken over its shards.
    var isFencing: Bool { [.freeze, .cut].contains(self) }
}
