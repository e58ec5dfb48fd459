package import KiiPushCore

package protocol OutsideHandler: Sendable {
    func begin()

    /// Passes a message to the handler. Returns the answer, or a failure if none comes before the deadline of
    /// `context`. A program that misses the deadline gets SIGTERM, and the call returns when the program has ended.
    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer

    /// Ends all programs and requests, and returns when they have ended.
    func stop() async
}

package struct OutsideBridge: RemoteNotificationHandler, ThingCommandHandler {
    package let outside: any OutsideHandler
    package let notes: MessageNotes
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
        // A task, because the thread of the delivery must not block.
        Task {
            let answer = await self.outside.answer(to: message, context)
            // Before `completion` is called, because that call causes output, which shows this outcome.
            self.notes.end(message.key(context), attempt: context.attempt, answer.outcome)
            if case .postponed = answer.verdict {
                // The next attempt has the same number, so this note must not remain.
                self.notes.forget(message.key(context), attempt: context.attempt)
            }
            switch answer.verdict {
            case .done(let result): completion(result)
            case .failed(let reason, let retryAfter):
                completion.fail(because: reason, retryAfter: retryAfter)
            case .rejected(let reason): completion.reject(reason)
            case .postponed(let reason, let retryAfter): completion.postpone(reason, retryAfter: retryAfter)
            }
        }
    }
}
