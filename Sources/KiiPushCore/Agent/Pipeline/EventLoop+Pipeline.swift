extension EventLoop {
    /// Makes the loop take another turn: an empty command is enough, and the turn collects the answers.
    package var waking: @Sendable () -> Void { { [weak self] in _ = self?.submit {} } }

    /// Makes a pipeline work in every turn of the loop, and confines it to the loop. On the loop's thread.
    package func drive(_ pipeline: Pipeline) -> LoopIsolated<Pipeline> {
        self.setTurnDelegate(pipeline)
        return LoopIsolated(confining: pipeline, to: self)
    }

    /// Waits for the event, or until the deadline or the loop's end.
    ///
    /// - Returns: whether the event came.
    package func wait(
        for event: Wait.Event, in pipeline: LoopIsolated<Pipeline>, until deadline: MonotonicInstant
    ) async -> Bool {
        let hasCome = OneShot<Bool>()
        let isAccepted = self.submit { pipeline.value.wait(for: event, until: deadline) { hasCome.resume($0) } }
        if !isAccepted { hasCome.resume(false) }
        return await hasCome.value()
    }

    /// Asks `question` on the loop's thread, and waits for the answer, in whichever turn it comes.
    ///
    /// - Throws: ``InboxError``; ``TransportError`` with code `shutDown` where the loop ends before the answer, too.
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
