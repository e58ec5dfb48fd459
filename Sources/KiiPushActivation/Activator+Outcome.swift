package import KiiPushCore

extension Activator {
    /// A program's verdict on the payload that started it, and how the process ended; `nil` if none was started, or if
    /// the verdict came before the end.
    package typealias Outcome = (verdict: HandlerVerdict, ending: ChildProcess.Ending?)

    /// Starts the program with a payload on its standard input and returns the outcome, for a caller that answers the
    /// message itself.
    ///
    /// - Parameters:
    ///   - limit: the program's time limit, if shorter than the context's.
    ///   - environment: variables for this process only.
    package func outcome(
        of payload: [UInt8], context: DeliveryContext, limit: Duration, environment: [String: String]
    ) async -> Outcome {
        let channel = OutcomeChannel()
        self.deliver(
            ActivatorLoop.Delivery(
                payload: payload, context: context,
                completion: FetchCompletion(channel, AnswerTicket(sequence: context.messageID)),
                deadline: min(context.deadlineInstant, .now() + limit), environment: environment,
                whenEnded: { ending in channel.ending.withLock { $0 = ending } }))
        return await channel.outcome.value()
    }
}

/// Receives the answer to a payload and, before it, how the process ended.
private final class OutcomeChannel: AnswerChannel {
    let outcome = OneShot<Activator.Outcome>()
    let ending = Locked<ChildProcess.Ending?>(nil)

    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        self.outcome.resume((verdict, self.ending.withLock { $0 }))
    }
}
