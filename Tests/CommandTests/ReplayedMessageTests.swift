import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct ReplayedMessageTests {
    /// Postpones the message once, then accepts it.
    private final class Hesitant: OutsideHandler {
        let deadlines = Locked<[MonotonicInstant]>([])

        func begin() {}
        func stop() async {}

        func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer {
            let count = self.deadlines.withLock { deadlines in
                deadlines.append(context.deadlineInstant)
                return deadlines.count
            }
            return HandlerAnswer(
                verdict: count == 1 ? .postponed("not now", retryAfter: .milliseconds(1)) : .done(.newData),
                outcome: HandlerOutcome(target: "nobody", ending: .exit(0), elapsed: .zero))
        }
    }

    @Test func hasTheWholeTimeWhenItIsHandedOverAgain() async throws {
        let message = ReplayedMessage(
            id: 1, receivedAt: .now(), received: try ReceivedMessage(payload: Array(#"{"sender":"u"}"#.utf8)))
        let outside = Hesitant()
        let replay = Replay(outside, Console(quiet: true), speed: nil, jobs: 1)
        let answer = try await replay.answer(to: message)
        #expect(answer.verdict == .done(.newData))
        let deadlines = outside.deadlines.withLock { $0 }
        try #require(deadlines.count == 2)
        #expect(deadlines[1] > deadlines[0])
    }
}
