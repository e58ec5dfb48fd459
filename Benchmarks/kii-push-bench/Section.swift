enum Section: String, CaseIterable {
    case decode
    case receive
    case handler
    case embedding
    case listen
    case broker
    case rest
    case emulator
    case inbox
    case process
    case fleet
    case gateway
    case growth
    case flash
    case idle
    case postgres

    /// The sections of the default build.
    static let usual = Self.allCases.filter { $0 != .postgres }

    func run(_ bench: Workbench, into report: inout Report) async throws {
        switch self {
        case .decode: try DecodeSection.run(bench, into: &report)
        case .receive: try ReceiveSection.run(bench, into: &report)
        case .handler: try HandlerSection.run(bench, into: &report)
        case .embedding: try EmbeddingSection.run(bench, into: &report)
        case .listen: try ListenSection.run(bench, into: &report)
        case .broker: try BrokerSection.run(bench, into: &report)
        case .rest: try RestSection.run(bench, into: &report)
        case .emulator: try await EmulatorSection.run(bench, into: &report)
        case .inbox: try InboxSection.run(bench, into: &report)
        case .process: try ProcessSection.run(bench, into: &report)
        case .fleet: try FleetSection.run(bench, into: &report)
        case .gateway: try GatewaySection.run(bench, into: &report)
        case .growth: try GrowthSection.run(bench, into: &report)
        case .flash: try FlashSection.run(bench, into: &report)
        case .idle: try IdleSection.run(bench, into: &report)
        case .postgres: try PostgresSection.run(bench, into: &report)
        }
    }
}
