package import KiiPushCore

extension AsyncSequence where Self: Sendable, Element == MessageRecord {
    /// All of them.
    package func all() async throws -> [MessageRecord] { try await self.reduce(into: []) { $0.append($1) } }
}

extension MessageRecord {
    /// Why the message was given up on, in words; empty of one that was not.
    package var reason: String { if case .dead(let reason) = self.state { reason.description } else { "" } }
}
