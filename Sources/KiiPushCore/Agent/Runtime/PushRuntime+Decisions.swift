/// The outcome of a decision about a message of the inbox.
package enum MessageDecision: Sendable, Hashable {
    case carriedOut
    /// The message's handler has been running for so long; nothing was changed.
    case running(for: Duration)
    /// There is no such message, or nobody knows who may have it again; nothing was changed.
    case notFound
}

extension PushRuntime {
    /// A decision about a message. The control socket uses these words.
    package enum Decision: String, Sendable { case retry, drop }

    /// Tries a message again now, whatever its state. A message that waits for its next attempt waits no longer. Any
    /// other is handled as if it had just been received, with all its attempts before it and whatever its topic. An
    /// agent that receives as its installation gets it at once; otherwise it waits for such an agent.
    ///
    /// - Returns: the outcome. ``MessageDecision/notFound`` as well with the inbox in memory, which keeps nothing.
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    package func retry(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.retry, messageID) }

    /// Removes a message for good, whatever its state. From then on the ledger counts it as ``MessageLedger/dropped``,
    /// unless it was done.
    ///
    /// - Throws: As ``retryDeadLetter(_:)``.
    @discardableResult
    package func drop(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.drop, messageID) }

    /// Assigns the messages of an installation that nobody receives as any more to another one: at once if its agent
    /// runs, else from its next run on. Messages of another installation of the same user or thing need no decision.
    ///
    /// - Returns: the number of these messages that are neither done nor dead letters. `nil` where the inbox does not
    ///   know one of the two, where both are the same, or where an agent of this runtime receives as the former.
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

    /// Carries out a request of another process. The answer comes on the loop's thread, or not at all when the runtime
    /// ends; an early refusal comes on the calling thread.
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
