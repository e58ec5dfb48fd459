extension PushRuntime {
    /// The messages that were given up on, of every agent of this runtime's inbox, oldest first. With the inbox in memory
    /// there are none: nothing is kept there.
    ///
    /// ```swift
    /// for try await letter in runtime.deadLetters() { print(letter.messageID, letter.state) }
    /// ```
    ///
    /// A record has the message and the reason why it is dead, without earlier events; `kii-push trace` lists these.
    /// Every loop begins anew. The body of the loop may retry or drop dead letters. The sequence reads 32 at a time, in
    /// the order of reception: a message that dies during the loop is listed if its number follows the last one read.
    /// It throws what ``ledger()`` throws.
    ///
    /// - Parameter messageID: lists the messages with a greater number. Default: all.
    public func deadLetters(after messageID: Int64 = 0) -> some AsyncSequence<MessageRecord, any Error> & Sendable {
        DeadLetters(after: messageID) { last in
            try await self.withPipeline {
                $0.store.deadLetters(after: last, limit: DeadLetters.pageLimit, completion: $1)
            }
        }
    }

    /// Tries a dead letter again, on whatever topic it came. Its attempts are counted from zero. If an agent receives as its
    /// installation, that agent gets it now; otherwise it waits for one that does.
    ///
    /// - Parameter messageID: ``MessageRecord/messageID``.
    /// - Returns: whether it was a dead letter and is tried again. `false` as well for one whose installation is unknown
    ///   (``MessageRecord/installationID`` is `nil`), which can only be dropped, and with the inbox in memory, which
    ///   keeps none.
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

    /// Has the store asked on the loop's thread, and waits for its answer.
    ///
    /// - Throws: ``InboxError``; ``TransportError`` with code `shutDown`; what opening throws.
    package func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (any Store, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        return try await self.loop.ask(core.pipeline) { question($0.store, $1) }
    }

    /// Waits until the store has written what was handed in before, for so long at most.
    ///
    /// - Returns: whether it has.
    package func writes(within limit: Duration) async -> Bool { await self.wait(for: .writing, within: limit) }

    /// Has `question` asked on the loop's thread, after the verdicts that were given until now are committed: a store that
    /// answers later has been handed them by then, unless it was at work already.
    func withPipeline<Answer: Sendable>(
        _ question: @escaping @Sendable (Pipeline, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let core = try await self.open()
        // They are committed at the end of this turn.
        try await self.loop.run {}
        do {
            return try await self.loop.ask(core.pipeline, question)
        } catch let error as InboxError {
            throw PushAgentError.inbox(reason: error.description)
        }
    }
}
