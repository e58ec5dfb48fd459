package import KiiPushCore

extension AsyncSequence where Self: Sendable, Element == MessageRecord {
    package func all() async throws -> [MessageRecord] { try await self.reduce(into: []) { $0.append($1) } }
}

extension MessageRecord {
    package var reason: String { if case .dead(let reason) = self.state { reason.description } else { "" } }
}
