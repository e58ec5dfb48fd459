extension EventLoop {
    package var waking: @Sendable () -> Void { { [weak self] in _ = self?.submit {} } }

    /// Call on the loop's thread.
    package func drive(_ pipeline: Pipeline) -> LoopIsolated<Pipeline> {
        self.setTurnDelegate(pipeline)
        return LoopIsolated(confining: pipeline, to: self)
    }

    /// Passes users' reactions to notifications to the pipeline, on any thread.
    package func reactions(in pipeline: LoopIsolated<Pipeline>) -> PresentationDesk.Reacted {
        { [weak self] reaction, sequence, installation in
            self?.submit { pipeline.value.reacted(reaction, to: sequence, installation: installation) } ?? false
        }
    }

    /// - Returns: whether the event came before the deadline and the loop's end.
    package func wait(
        for event: Wait.Event, in pipeline: LoopIsolated<Pipeline>, until deadline: MonotonicInstant
    ) async -> Bool {
        let hasCome = OneShot<Bool>()
        let isAccepted = self.submit { pipeline.value.wait(for: event, until: deadline) { hasCome.resume($0) } }
        if !isAccepted { hasCome.resume(false) }
        return await hasCome.value()
    }

    /// The answer may come in a later turn.
    ///
    /// - Throws: ``InboxError``; ``TransportError`` with code `shutDown` if the loop ends before the answer.
    func ask<Answer: Sendable>(
        _ pipeline: LoopIsolated<Pipeline>,
        _ question: @escaping @Sendable (Pipeline, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let answer = OneShot<Result<Answer, any Error>>()
        let isAccepted = self.submit {
            let (pipeline, key) = (pipeline.value, ObjectIdentifier(answer))
            pipeline.questions[key] = { answer.resume(.failure(TransportError.shutDown)) }
            question(pipeline) { [weak pipeline] result in
                pipeline?.questions[key] = nil
                answer.resume(result.mapError { $0 })
            }
        }
        if !isAccepted { answer.resume(.failure(TransportError.shutDown)) }
        return try await answer.value().get()
    }
}
