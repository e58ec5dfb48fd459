extension PushRuntime {
    /// What has become of every message that was received with this runtime's inbox, whichever agent it was for.
    ///
    /// The numbers are those of the last transaction, in which everything is that was answered before this call, unless
    /// the inbox cannot be written at the moment. They add up at any time: what was received is what became of it.
    ///
    /// - Throws: ``PushAgentError`` when this is the first use of the state directory, which is opened and locked, and
    ///   that fails; ``TransportError`` with code `shutDown` after ``shutdown()``.
    public func ledger() async throws -> MessageLedger {
        try await self.withPipeline { $0.store.ledger(completion: $1) }
    }

    /// Opens and locks the state directory, if that was not done.
    ///
    /// - Returns: whether its lock is held: an inbox in memory does without where another process has it.
    package func locksStateDirectory() async throws -> Bool { try await self.open().lock != nil }
}
