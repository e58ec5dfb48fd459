extension PushRuntime {
    /// The dead letters of all agents of this runtime, oldest first. An inbox in memory has none.
    ///
    /// ```swift
    /// for try await letter in runtime.deadLetters() { print(letter.messageID, letter.state) }
    /// ```
    ///
    /// Each loop begins anew, and its body may retry or drop dead letters. A loop may miss a message that becomes a
    /// dead letter meanwhile. The sequence throws the errors of ``ledger()``.
    ///
    /// - Parameter messageID: lists only messages with a greater number. Default: all.
    public func deadLetters(after messageID: Int64 = 0) -> some AsyncSequence<MessageRecord, any Error> & Sendable {
        DeadLetters(after: messageID) { last in
            try await self.withPipeline {
                $0.store.deadLetters(after: last, limit: DeadLetters.pageLimit, completion: $1)
            }
        }
    }

    /// Delivers a dead letter again, on whatever topic it came, beginning with attempt 1. The installation's agent gets
    /// the message now, or when it next runs.
    ///
    /// - Parameter messageID: ``MessageRecord/messageID``.
    /// - Returns: whether there was a dead letter that could be retried. If its ``MessageRecord/installationID`` is
    ///   `nil`, it can only be dropped.
    /// - Throws: ``PushAgentError`` if the state directory cannot be opened or the inbox cannot be written;
    ///   ``TransportError`` with code `shutDown` after ``shutdown()``.
    @discardableResult
    public func retryDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.decide(.retry, messageID, onlyDead: true) == .carriedOut
    }

    /// Removes a dead letter for good. Returns whether there was one.
    ///
    /// - Throws: The errors of ``retryDeadLetter(_:)``.
    @discardableResult
    public func dropDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.decide(.drop, messageID, onlyDead: true) == .carriedOut
    }

    package func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (any Store, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        return try await self.loop.ask(core.pipeline) { question($0.store, $1) }
    }

    /// - Returns: whether the store has written everything submitted before, within `limit`.
    package func writes(within limit: Duration) async -> Bool { await self.wait(for: .writing, within: limit) }

    /// Asks on the loop's thread, after a turn that commits earlier answers of handlers. A store across a network may
    /// still lack these answers if it is in a commit.
    func withPipeline<Answer: Sendable>(
        _ question: @escaping @Sendable (Pipeline, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        try await self.loop.run {}
        do {
            return try await self.loop.ask(core.pipeline, question)
        } catch let error as InboxError {
            throw PushAgentError.inbox(reason: error.description)
        }
    }
}
