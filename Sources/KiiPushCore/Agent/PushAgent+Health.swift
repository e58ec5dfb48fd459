package struct AgentHealth: Sendable, Hashable {
    /// The time since the broker last sent anything. `nil` before SUBACK, without a connection, and while the agent
    /// pauses reading.
    package var brokerSilence: Duration?
    /// The longest delay of a handler's call beyond its deadline; zero if no call is late.
    package var overdue: Duration

    package init(brokerSilence: Duration? = nil, overdue: Duration = .zero) {
        self.brokerSilence = brokerSilence
        self.overdue = overdue
    }
}

extension PushAgent {
    package func health() async throws -> AgentHealth {
        let link = self.link.withLock { $0 }
        let pipeline = self.runtime.opened?.pipeline
        let (silence, overdue) = try await self.runtime.loop.run { (link?.value.silence, pipeline?.value.overdue) }
        return AgentHealth(brokerSilence: silence, overdue: overdue ?? .zero)
    }
}
