extension PushRuntime {
    /// Counts the messages that this runtime's inbox has received, by outcome, for all agents together.
    ///
    /// The numbers are as of the last transaction. It holds every answer given before this call, unless the inbox
    /// cannot be written at the moment. The numbers of all outcomes always add up to the number of received messages.
    ///
    /// - Throws: ``PushAgentError`` when this is the first use of the state directory, and opening or locking it fails;
    ///   ``TransportError`` with code `shutDown` after ``shutdown()``.
    public func ledger() async throws -> MessageLedger {
        try await self.withPipeline { $0.store.ledger(completion: $1) }
    }

    /// Opens and locks the state directory, unless that has been done.
    ///
    /// - Returns: whether this process holds the lock. An inbox in memory works without it where another process has
    ///   it.
    package func locksStateDirectory() async throws -> Bool { try await self.open().lock != nil }
}
