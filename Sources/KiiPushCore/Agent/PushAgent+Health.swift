/// The health of an agent, for a watchdog.
package struct AgentHealth: Sendable, Hashable {
    /// The silence of the broker on the connection that stands. It lasts at most for the keep-alive interval and the
    /// wait for the answer to PINGREQ; then the connection counts as lost. `nil` without a connection, and while the
    /// agent reads nothing because too much waits to be stored.
    package var brokerSilence: Duration?
    /// The delay of a handler's call beyond its deadline; zero when none is late.
    package var overdue: Duration

    package init(brokerSilence: Duration? = nil, overdue: Duration = .zero) {
        self.brokerSilence = brokerSilence
        self.overdue = overdue
    }
}

extension PushAgent {
    /// Asks the network thread, which answers in a turn of its own: an answer shows that it takes turns.
    ///
    /// - Throws: ``TransportError`` with code `shutDown`.
    package func health() async throws -> AgentHealth {
        let link = self.link.withLock { $0 }
        let pipeline = self.runtime.opened?.pipeline
        let (silence, overdue) = try await self.runtime.loop.run { (link?.value.silence, pipeline?.value.overdue) }
        return AgentHealth(brokerSilence: silence, overdue: overdue ?? .zero)
    }
}
