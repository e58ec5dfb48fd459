extension PushAgent {
    /// - Returns: `brokerSilence` is the time since the broker last sent anything: `nil` before SUBACK, without a
    ///   connection, and while the agent pauses reading. `overdue` is the longest delay of a handler's call beyond its
    ///   deadline: zero if no call is late.
    func health() async throws -> (brokerSilence: Duration?, overdue: Duration) {
        let link = self.link.withLock { $0 }
        let pipeline = self.runtime.opened?.pipeline
        return try await self.runtime.loop.run { (link?.value.silence, pipeline?.value.overdue ?? .zero) }
    }
}
