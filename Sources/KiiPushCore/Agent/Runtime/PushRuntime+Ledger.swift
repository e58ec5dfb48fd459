extension PushRuntime {
    /// Counts the messages that this runtime's inbox has received, by outcome, for all agents together.
    ///
    /// The counts include every answer that a handler gave before the call, unless the inbox cannot be written. The
    /// outcomes add up to the number of received messages.
    ///
    /// - Throws: ``PushAgentError`` if the state directory cannot be opened or locked; ``TransportError`` with code
    ///   `shutDown` after ``shutdown()``.
    public func ledger() async throws -> MessageLedger {
        try await self.withPipeline { $0.store.ledger(completion: $1) }
    }

    /// Opens the state directory. Returns whether this process holds its lock, which an inbox in memory does not need.
    package func locksStateDirectory() async throws -> Bool { try await self.open().lock != nil }
}
