extension PushRuntime {
    /// The messages that were given up on, of every agent of this runtime's inbox, oldest first. With the inbox in memory
    /// there are none: nothing is kept there.
    ///
    /// To look into a state directory that another process holds, see ``InboxReader/deadLetters(after:limit:)``.
    ///
    /// - Parameter messageID: begins behind the message with this number. Default: at the first.
    public func deadLetters(after messageID: Int64 = 0) -> DeadLetters {
        DeadLetters(after: messageID) { last in
            try await self.withStore { store, _ throws(InboxError) in
                try store.deadLetters(after: last, limit: DeadLetters.pageLimit)
            }
        }
    }

    /// Has a dead letter tried again, as if it had just been received: with all its attempts before it and, if its
    /// topic was the reason, whatever its topic. An agent that receives as its installation is handed it at once;
    /// otherwise it waits for one that does.
    ///
    /// - Parameter messageID: ``DeadLetter/messageID``.
    /// - Returns: whether it was a dead letter and is tried again. `false` as well for one whose installation is unknown
    ///   (``DeadLetter/installationID`` is `nil`), which can only be dropped, and with the inbox in memory, which keeps
    ///   none.
    /// - Throws: ``PushAgentError``: what opening the state directory throws, and `inbox` when the inbox cannot be
    ///   written, with nothing changed; ``TransportError`` with code `shutDown` after ``shutdown()``.
    @discardableResult
    public func retryDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.withStore { store, delivery throws(InboxError) in
            try Self.retryDeadLetter(messageID, store, delivery)
        }
    }

    /// Removes a dead letter for good. The ledger counts it as ``MessageLedger/expired`` from then on.
    ///
    /// - Parameter messageID: ``DeadLetter/messageID``.
    /// - Returns: whether it was a dead letter.
    /// - Throws: as ``retryDeadLetter(_:)``.
    @discardableResult
    public func dropDeadLetter(_ messageID: Int64) async throws -> Bool {
        try await self.withStore { store, _ throws(InboxError) in try store.dropDeadLetter(messageID) }
    }

    /// Does for another process what it asks for; the answer comes on the loop's thread, or not at all when the runtime
    /// ends.
    func perform(_ request: ControlRequest, _ reply: @escaping @Sendable (ControlReply) -> Void) {
        let change: @Sendable (any MessageStore, DeliveryRunner) throws(InboxError) -> (Int64, Bool)
        switch request {
        case .watch: return
        case .retry(let id):
            change = { store, runner throws(InboxError) in (id, try Self.retryDeadLetter(id, store, runner)) }
        case .drop(let id):
            change = { store, _ throws(InboxError) in (id, try store.dropDeadLetter(id)) }
        }
        guard let core = self.opened else {
            return reply(
                .failed(id: request.messageID, reason: "the process is about to begin, or to end; try again"))
        }
        core.runner.collectAnswers()
        // As ``withStore(_:)``.
        self.loop.submit { [loop = self.loop] in
            loop.submit {
                do throws(InboxError) {
                    let (id, isChanged) = try change(core.pipeline.value.store, core.runner)
                    reply(.changed(id: id, isChanged))
                } catch {
                    let reason = PushAgentError.inbox(reason: error.description).description
                    reply(.failed(id: request.messageID, reason: reason))
                }
            }
        }
    }

    private static func retryDeadLetter(
        _ messageID: Int64, _ store: any MessageStore, _ delivery: DeliveryRunner
    ) throws(InboxError) -> Bool {
        guard let installation = try store.retryDeadLetter(messageID, at: .now()) else { return false }
        // Before the next turn can read the row back: from here on, no answer to an attempt before this counts.
        delivery.deadLetterRetried(messageID, installation: installation)
        return true
    }

    /// Runs `body` on the loop's thread, when everything is written that was answered until now.
    private func withStore<Result: Sendable>(
        _ body: @escaping @Sendable (any MessageStore, DeliveryRunner) throws(InboxError) -> Result
    ) async throws -> Result {
        let core = try await self.open()
        core.runner.collectAnswers()
        // What was answered until now is written at the end of this turn, and the next one does what is asked.
        try await self.loop.run {}
        return try await self.loop.run {
            do throws(InboxError) {
                return try body(core.pipeline.value.store, core.runner)
            } catch {
                throw PushAgentError.inbox(reason: error.description)
            }
        }
    }
}
