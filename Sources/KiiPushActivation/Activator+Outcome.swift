package import KiiPushCore

extension Activator {
    /// The program's verdict on the payload, and the process's ending. The ending is `nil` if the payload started no
    /// process, or if the verdict came first.
    package typealias Outcome = (verdict: HandlerVerdict, ending: ChildProcess.Ending?)

    /// Starts the program with a payload, for a caller that answers the message itself.
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

private final class OutcomeChannel: AnswerChannel {
    let outcome = OneShot<Activator.Outcome>()
    let ending = Locked<ChildProcess.Ending?>(nil)

    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        self.outcome.resume((verdict, self.ending.withLock { $0 }))
    }
}
