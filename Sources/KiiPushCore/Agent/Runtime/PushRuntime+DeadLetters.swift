extension PushRuntime {
    /// The dead letters of every agent of this runtime's inbox, oldest first. An inbox in memory has none.
    ///
    /// ```swift
    /// for try await letter in runtime.deadLetters() { print(letter.messageID, letter.state) }
    /// ```
    ///
    /// A record has the message and the reason why it is dead, without earlier events; `kii-push trace` lists these.
    /// Every loop begins anew. The body of the loop may retry or drop dead letters. The sequence reads 32 records at a
    /// time, in the order of reception: it lists a message that dies during the loop if its number follows the last one
    /// read. It throws the errors of ``ledger()``.
    ///
    /// - Parameter messageID: lists the messages with a greater number. Default: all.
    public func deadLetters(after messageID: Int64 = 0) -> some AsyncSequence<MessageRecord, any Error> & Sendable {
        DeadLetters(after: messageID) { last in
            try await self.withPipeline {
                $0.store.deadLetters(after: last, limit: DeadLetters.pageLimit, completion: $1)
            }
        }
    }

    /// Tries a dead letter again, on whatever topic it came, and counts its attempts from zero. If an agent receives as
    /// its installation, that agent gets it now; otherwise it waits for such an agent.
    ///
    /// - Parameter messageID: ``MessageRecord/messageID``.
    /// - Returns: whether it was a dead letter and is tried again. `false` as well with the inbox in memory, which
    ///   keeps none. `false`, too, if its installation is unknown (``MessageRecord/installationID`` is `nil`); it can
    ///   only be dropped.
    /// - Throws: ``PushAgentError``: what opening the state directory throws, and `inbox` when the inbox cannot be
    ///   written, with nothing changed; ``TransportError`` with code `shutDown` after ``shutdown()``.
    @discardableResult
    public func retryDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.decide(.retry, messageID, onlyDead: true) == .carriedOut
    }

    /// Removes a dead letter for good. Returns whether it was one.
    ///
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    public func dropDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.decide(.drop, messageID, onlyDead: true) == .carriedOut
    }

    /// Asks the store on the loop's thread, and waits for its answer.
    ///
    /// - Throws: ``InboxError``; ``TransportError`` with code `shutDown`; what opening throws.
    package func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (any Store, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        return try await self.loop.ask(core.pipeline) { question($0.store, $1) }
    }

    /// Waits until the store has written everything submitted before, at most for `limit`.
    ///
    /// - Returns: whether the store has written it.
    package func writes(within limit: Duration) async -> Bool { await self.wait(for: .writing, within: limit) }

    /// Asks `question` on the loop's thread, after earlier verdicts are committed. A store that answers later has
    /// received them by then, unless it was at work already.
    func withPipeline<Answer: Sendable>(
        _ question: @escaping @Sendable (Pipeline, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        // The verdicts are committed at the end of this turn.
        try await self.loop.run {}
        do {
            return try await self.loop.ask(core.pipeline, question)
        } catch let error as InboxError {
            throw PushAgentError.inbox(reason: error.description)
        }
    }
}
