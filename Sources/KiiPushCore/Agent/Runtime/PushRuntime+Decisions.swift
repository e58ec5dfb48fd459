package enum MessageDecision: Sendable, Hashable {
    case carriedOut
    /// The handler has been running for this time; nothing was changed.
    case running(for: Duration)
    /// There is no such message or dead letter, or no known installation for a retry; nothing was changed.
    case notFound
}

extension PushRuntime {
    package enum Decision: String, Sendable { case retry, drop }

    /// Delivers a message again, unless its handler runs: now, or when an agent of its installation runs. A waiting
    /// message keeps its count of attempts; any other starts with attempt 1.
    @discardableResult
    package func retry(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.retry, messageID) }

    /// Removes a message for good, unless its handler runs. The ledger counts it as ``MessageLedger/dropped``, unless
    /// it was done.
    @discardableResult
    package func drop(_ messageID: Int64) async throws -> MessageDecision { try await self.decide(.drop, messageID) }

    /// Assigns the messages of an unused installation to another one, whose agent handles them now or when it next
    /// runs.
    ///
    /// - Returns: the number of these messages, without done messages and dead letters. `nil` if the inbox lacks one of
    ///   the installations, if both are the same, or if an agent of this runtime receives as `formerID`.
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

    /// The reply comes on the loop's thread, or never if the runtime ends. An early refusal comes on the calling
    /// thread.
    func perform(_ request: ControlRequest, _ reply: @escaping @Sendable (ControlReply) -> Void) {
        let fail = { @Sendable (reason: String) in reply(.failed(id: request.messageID, reason: reason)) }
        guard let core = self.opened else { return fail("the process is about to begin, or to end; try again") }
        guard core.isDurable else {
            return fail("the process that receives has its inbox in memory, and can only be watched; stop it first")
        }
        // One turn later, so that earlier answers of handlers are committed.
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
