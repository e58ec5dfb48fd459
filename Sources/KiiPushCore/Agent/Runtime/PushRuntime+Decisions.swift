/// What came of a decision about a message of the inbox.
package enum MessageDecision: Sendable, Hashable {
    case carriedOut
    /// The message's handler has been running for so long; nothing was changed.
    case running(for: Duration)
    /// There is no such message, or, to be tried again, nobody knows whom it is for; nothing was changed.
    case notFound
}

extension PushRuntime {
    /// What can be decided about a message. These words stand on the control socket.
    package enum Decision: String, Sendable { case retry, drop }

    /// Has a message tried again now, wherever it stands: one that waits for its next attempt does not wait any longer, and
    /// any other is handled as if it had just been received, with all its attempts before it and whatever its topic. An
    /// agent that receives as its installation is handed it at once; otherwise it waits for one that does.
    ///
    /// - Returns: what came of it. ``MessageDecision/notFound`` as well with the inbox in memory, which keeps nothing.
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    package func retry(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.retry, messageID) }

    /// Removes a message for good, wherever it stands. The ledger counts it as ``MessageLedger/dropped`` from then on, but
    /// for one that was done.
    ///
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    package func drop(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.drop, messageID) }

    /// Has an installation handle the messages of another one that nobody receives as any more. At once, if its agent runs;
    /// else from its next run on. Those of another installation of the same user or thing need no decision.
    ///
    /// - Returns: how many messages that are neither done nor given up on there are; `nil` where the inbox does not know one
    ///   of the two, or an agent of this runtime receives as the former.
    /// - Throws: As ``retryDeadLetter(_:)``.
    package func adopt(_ formerID: String, by installationID: String) async throws -> Int? {
        try await self.withPipeline { [adopters = self.adopters] pipeline, completion in
            Self.adopt(formerID, by: installationID, pipeline.store, adopters, completion: completion)
        }
    }

    func decide(_ decision: Decision, _ messageID: Int64, onlyDead: Bool = false) async throws -> MessageDecision {
        try await self.withPipeline { $0.decide(decision, messageID, onlyDead: onlyDead, completion: $1) }
    }

    private static func adopt(
        _ formerID: String, by installationID: String, _ store: any Store, _ adopters: Adopters,
        completion: @escaping StoreCompletion<Int?>
    ) {
        let isRunning = adopters.withLock { $0[formerID] != nil }
        guard !isRunning, formerID != installationID else { return completion(.success(nil)) }
        store.adopt(formerID, by: installationID) { answer in
            if case .success(let adoption?) = answer { adopters.withLock { $0[installationID] }?(adoption) }
            completion(answer.map { $0?.messages })
        }
    }

    /// Does for another process what it asks for; the answer comes on the loop's thread, or not at all when the runtime
    /// ends.
    func perform(_ request: ControlRequest, _ reply: @escaping @Sendable (ControlReply) -> Void) {
        let fail = { @Sendable (reason: String) in reply(.failed(id: request.messageID, reason: reason)) }
        guard let core = self.opened else { return fail("the process is about to begin, or to end; try again") }
        guard core.isDurable else {
            return fail("the process that receives has its inbox in memory, and can only be watched; stop it first")
        }
        // As ``withPipeline(_:)``.
        self.loop.submit { [weak self] in
            guard let self else { return }
            self.loop.submit {
                self.answer(request, core.pipeline.value) { answer in
                    switch answer {
                    case .success(let answer): reply(answer)
                    case .failure(let error): fail(PushAgentError.inbox(reason: error.description).description)
                    }
                }
            }
        }
    }

    private func answer(
        _ request: ControlRequest, _ pipeline: Pipeline, completion: @escaping StoreCompletion<ControlReply>
    ) {
        switch request {
        case .watch: completion(.success(.failed(id: nil, reason: "watching is the connection's own")))
        case .decide(let decision, let id):
            pipeline.decide(decision, id) { completion($0.map { .decided(id: id, $0) }) }
        case .adopt(let formerID, let installationID):
            Self.adopt(formerID, by: installationID, pipeline.store, self.adopters) {
                completion($0.map { .adopted(formerID: formerID, $0) })
            }
        }
    }
}
