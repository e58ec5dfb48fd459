/// Whether an agent is alive, for whoever watches over it.
package struct AgentHealth: Sendable, Hashable {
    /// How long the broker was not heard on the connection that stands: at most the keep-alive interval and what the answer
    /// to PINGREQ may take, or the connection is taken for lost. `nil` while there is no connection, and while nothing is
    /// read from it since too much waits to be stored.
    package var brokerSilence: Duration?
    /// How long a handler's call is past its deadline; zero when none is.
    package var overdue: Duration

    package init(brokerSilence: Duration? = nil, overdue: Duration = .zero) {
        self.brokerSilence = brokerSilence
        self.overdue = overdue
    }
}

extension PushAgent {
    /// Asks the network thread: it answers in a turn of its own, so that an answer at all means that it turns.
    ///
    /// - Throws: ``TransportError`` with code `shutDown`.
    package func health() async throws -> AgentHealth {
        let link = self.link.withLock { $0 }
        let pipeline = self.runtime.opened?.pipeline
        let (silence, overdue) = try await self.runtime.loop.run { (link?.value.silence, pipeline?.value.overdue) }
        return AgentHealth(brokerSilence: silence, overdue: overdue ?? .zero)
    }
}
