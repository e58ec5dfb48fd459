import Dispatch
import Testing

@testable import KiiPushCore

/// Behaviour of a completion that `CompletionMisuseTests` cannot see from outside.
@Suite struct FetchCompletionTests {
    private typealias Answers = Journal<Bool>

    @Test func answeringFailedIsTriedAgain() async throws {
        let answers = Answers()
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, completion in answers.add(completion(.failed)) })
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1) == [.change(1, .again(after: 1, .failed), attempts: 1)])
        #expect(await answers.first(1) == [true])
        await fixture.advance(.seconds(1))
        #expect(await answers.first(2) == [true, true])
    }

    private final class Channel: AnswerChannel {
        let verdicts = Locked<[HandlerVerdict]>([])

        func answer(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
            self.verdicts.withLock { $0.append(verdict) }
            return true
        }
    }

    private struct Wordy: Error, CustomStringConvertible {
        let description: String
    }

    @Test func reasonsAreCutHoweverFewCharactersTheyAre() {
        let channel = Channel()
        let ticket = AnswerTicket(sequence: 1)
        // Swift counts one character.
        let long = "e" + String(repeating: "\u{301}", count: 100_000)
        FetchCompletion(channel, ticket).reject(long)
        FetchCompletion(channel, ticket).fail(Wordy(description: long))
        let cut = "e" + String(repeating: "\u{301}", count: 499)
        // Releasing a completion also sends an answer, which does not count.
        let verdicts = channel.verdicts.withLock { $0 }
        #expect(verdicts == [.rejected(cut), .unanswered, .threw(cut), .unanswered])
    }

    @Test func answeringFromAnotherThreadWhileTheCallGoesOnIsRecordedAtOnce() async throws {
        let answers = Answers()
        let release = DispatchSemaphore(value: 0)
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, _, completion in
                let task = Task { answers.add(completion(.newData)) }
                release.wait()
                release.signal()
                task.cancel()
            })
        fixture.deliver([.push(1)])
        #expect(await answers.first(1) == [true])
        await fixture.advance(.seconds(31))
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.done(.newData)])
        release.signal()
    }

    @Test func lettingGoAfterTheCallIsAFailureToo() async throws {
        let held = Locked<FetchCompletion?>(nil)
        let called = Journal<Int>()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                held.withLock { $0 = completion }
                called.add(context.attempt)
            })
        fixture.deliver([.push(1)])
        await called.first(1)
        held.withLock { $0 = nil }
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .unanswered)])
    }
}
