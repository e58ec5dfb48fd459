extension PushRuntime {
    /// Counts the messages that this runtime's inbox has received, by outcome, for all agents together.
    ///
    /// The counts are those of the last transaction. It holds every answer given before this call, unless the inbox
    /// cannot be written. The outcomes always add up to the number of received messages.
    ///
    /// - Throws: ``PushAgentError`` if the state directory cannot be opened or locked; ``TransportError`` with code
    ///   `shutDown` after ``shutdown()``.
    public func ledger() async throws -> MessageLedger {
        try await self.withPipeline { $0.store.ledger(completion: $1) }
    }

    /// Opens and locks the state directory, unless that has been done.
    ///
    /// - Returns: whether this process holds the lock. An inbox in memory works without it.
    package func locksStateDirectory() async throws -> Bool { try await self.open().lock != nil }
}
