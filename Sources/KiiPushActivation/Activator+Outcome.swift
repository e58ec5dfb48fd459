package import KiiPushCore

extension Activator {
    /// What a program made of a payload that it was started with: the answer, as a handler would have given it, and how the
    /// process ended; `nil` when none was started, or its end was not waited for.
    package typealias Outcome = (verdict: HandlerVerdict, ending: ChildProcess.Ending?)

    /// Starts the program with a payload on its standard input, and tells what came of it, for one who answers himself.
    ///
    /// - Parameters:
    ///   - limit: how long the program has, if that is less than the context says.
    ///   - environment: variables for this process alone.
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

/// Takes the one answer to a payload together with how its process ended, which is told before.
private final class OutcomeChannel: AnswerChannel {
    let outcome = OneShot<Activator.Outcome>()
    let ending = Locked<ChildProcess.Ending?>(nil)

    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        self.outcome.resume((verdict, self.ending.withLock { $0 }))
    }
}
