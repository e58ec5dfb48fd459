package import KiiPushCore

/// Somebody outside this process who handles messages: a command, or a server.
package protocol OutsideHandler: Sendable {
    /// Gets ready: ends what an earlier run has left.
    func begin()

    /// Hands a message over and waits for what comes of it: until the deadline of `context` at most, and as long as a
    /// program takes to end when it is told to.
    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer

    /// Ends what runs. Returns when nothing does any more.
    func stop() async
}

/// The handler of an agent whose messages somebody outside handles.
package struct OutsideBridge: RemoteNotificationHandler, ThingCommandHandler {
    package let outside: any OutsideHandler
    package let notes: MessageNotes
    /// Of a fleet the agent whose messages they are.
    package var agent: String?

    package init(outside: any OutsideHandler, notes: MessageNotes, agent: String? = nil) {
        self.outside = outside
        self.notes = notes
        self.agent = agent
    }

    package func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.handle(HandledMessage(message, of: self.agent), context, completion)
    }

    package func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.handle(HandledMessage(command, of: self.agent), context, completion)
    }

    private func handle(_ message: HandledMessage, _ context: DeliveryContext, _ completion: FetchCompletion) {
        self.notes.begin(message, context, isWatched: true)
        // The delivery's thread is not held up; the answer comes from here within the deadline.
        Task {
            let answer = await self.outside.answer(to: message, context)
            // Before the answer, with which the verdict is shown.
            self.notes.end(message.key(context), attempt: context.attempt, answer.outcome)
            if case .postponed = answer.verdict {
                // It begins again with the same number.
                self.notes.forget(message.key(context), attempt: context.attempt)
            }
            switch answer.verdict {
            case .done(let result): completion(result)
            case .failed(let reason, let retryAfter):
                completion.fail(OutsideFailure(description: reason), retryAfter: retryAfter)
            case .rejected(let reason): completion.reject(reason)
            case .postponed(let reason, let retryAfter): completion.postpone(reason, retryAfter: retryAfter)
            }
        }
    }
}

/// Why an attempt outside failed, as it is kept with the message.
private struct OutsideFailure: Error, CustomStringConvertible {
    let description: String
}
