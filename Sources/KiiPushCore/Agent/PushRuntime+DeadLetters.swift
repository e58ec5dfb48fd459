extension PushRuntime {
    /// The messages that were given up on, of every agent of this runtime's inbox, oldest first. With the inbox in memory
    /// there are none: nothing is kept there.
    ///
    /// To look into a state directory that another process holds, see ``InboxReader/deadLetters(after:limit:)``.
    ///
    /// - Parameter messageID: begins behind the message with this number. Default: at the first.
    public func deadLetters(after messageID: Int64 = 0) -> DeadLetters {
        DeadLetters(after: messageID) { last in
            try await self.withPipeline { pipeline throws(InboxError) in
                try pipeline.store.deadLetters(after: last, limit: DeadLetters.pageLimit)
            }
        }
    }

    /// Has a dead letter handled again, with all its attempts before it and whatever its topic. An agent that receives as
    /// its installation is handed it at once; otherwise it waits for one that does.
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

    /// Removes a dead letter for good.
    ///
    /// - Parameter messageID: ``MessageRecord/messageID``.
    /// - Returns: whether it was a dead letter.
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    public func dropDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.decide(.drop, messageID, onlyDead: true) == .carriedOut
    }

    /// Runs `body` on the loop's thread, when everything is written that was answered until now.
    func withPipeline<Result: Sendable>(
        _ body: @escaping @Sendable (Pipeline) throws(InboxError) -> Result
    ) async throws -> Result {
        let core = try await self.open()
        // What was answered until now is written at the end of this turn, and the next one does what is asked.
        try await self.loop.run {}
        return try await self.loop.run {
            do throws(InboxError) {
                return try body(core.pipeline.value)
            } catch {
                throw PushAgentError.inbox(reason: error.description)
            }
        }
    }
}
