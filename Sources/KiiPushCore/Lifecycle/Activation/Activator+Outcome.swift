/// What a program made of a payload that it was started with.
package struct ActivationOutcome: Sendable {
    /// The answer, as a handler would have given it.
    package var verdict: HandlerVerdict
    /// How the process ended; `nil` when none was started, or its end was not waited for.
    package var ending: SpawnedProcess.Ending?
}

extension Activator {
    /// Starts the activator's thread before there is a message, so that what an earlier run has left running is ended.
    package func begin() { self.worker.begin() }

    /// Starts the program with a payload on its standard input, and tells what came of it, for one who answers himself.
    ///
    /// - Parameters:
    ///   - payload: what it reads.
    ///   - context: which message it is, and until when an answer counts.
    ///   - limit: how long the program has, if that is less than the context says.
    ///   - environment: variables for this process alone.
    package func outcome(
        of payload: [UInt8], context: DeliveryContext, limit: Duration, environment: [String: String]
    ) async -> ActivationOutcome {
        let channel = OutcomeChannel()
        let ticket = AnswerTicket(sequence: context.messageID)
        self.worker.deliver(
            ActivatorMailbox.Delivery(
                payload: payload, context: context, completion: FetchCompletion(channel, ticket),
                deadline: min(context.deadlineInstant, .now() + limit), environment: environment,
                whenEnded: { channel.ended($0) }))
        return await channel.outcome.value()
    }
}

/// Takes the one answer to a payload together with how its process ended, which is told before.
private final class OutcomeChannel: AnswerChannel {
    let outcome = OneShot<ActivationOutcome>()
    private let ending = Locked<SpawnedProcess.Ending?>(nil)

    func ended(_ ending: SpawnedProcess.Ending) { self.ending.withLock { $0 = ending } }

    func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        self.outcome.resume(ActivationOutcome(verdict: verdict, ending: self.ending.withLock { $0 }))
    }
}
