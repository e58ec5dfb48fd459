import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct RunServiceTests {
    private struct Idle: OutsideHandler {
        func begin() {}
        func stop() async {}

        func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer {
            HandlerAnswer(
                verdict: .done(.newData),
                outcome: HandlerOutcome(target: "nobody", ending: .exit(0), elapsed: .zero))
        }
    }

    /// The broker does not answer, so that the session never has a connection. The other session's limit is reached
    /// first.
    @Test func theLimitOfAnotherSessionEndsNothing() async throws {
        try await withFakeBroker { _, runtime, configuration in
            let service = RunService(console: Console(quiet: true))
            let receiver = RunReceiver(.outside(Idle()), concurrency: 1)
            let session = RunSession(
                profile: "default", settings: RunSettings(RunOptions()), shutdownGrace: .zero, runtime: runtime,
                agent: receiver.agent(runtime: runtime, configuration: configuration), receiver: receiver,
                view: service.view(installationID: "i", receiver.notes),
                status: service.status(1, installationID: "i", offlineLimit: .milliseconds(300)))
            let other = service.status(2, installationID: "i", offlineLimit: .zero)
            other.wait()
            let failure = await #expect(throws: CommandFailure.self) {
                try await service.run(session) { _ in session }
            }
            #expect(failure?.exit == .unreachable)
            #expect(failure?.message.hasPrefix("there was no connection for 300 ms; ") == true)
            withExtendedLifetime(other) {}
        }
    }
}
