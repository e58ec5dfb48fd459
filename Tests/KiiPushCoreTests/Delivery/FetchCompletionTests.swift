import Dispatch
import Testing

@testable import KiiPushCore

/// Every way to use a completion, proper and improper.
@Suite struct FetchCompletionTests {
    private typealias Answers = Journal<Bool>

    /// Holds completions for tests that answer them later.
    private final class Shelf: Sendable {
        private let held = Locked<[FetchCompletion]>([])
        let count = Journal<Int>()

        func put(_ completion: FetchCompletion, attempt: Int) {
            self.held.withLock { $0.append(completion) }
            self.count.add(attempt)
        }

        func take() -> FetchCompletion? { self.held.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

        /// Answers the completion that has been held the longest; `nil` if there is none.
        func answer(_ result: FetchResult) -> Bool? { self.take()?(result) }
    }

    @Test(arguments: [FetchResult.newData, .noData])
    func answeringDuringTheCallEndsTheMessage(result: FetchResult) async throws {
        let answers = Answers()
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, completion in answers.add(completion(result)) })
        fixture.deliver([.push(1)])
        let changes = await fixture.store.changes.first(1)
        #expect(changes == [.change(1, .done(result), attempts: 1)])
        #expect(await answers.first(1) == [true])
    }

    @Test func answeringFailedIsTriedAgain() async throws {
        let answers = Answers()
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, completion in answers.add(completion(.failed)) })
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1) == [.change(1, .again(after: 1, .failed), attempts: 1)])
        #expect(await answers.first(1) == [true])
        await fixture.advance(.seconds(1))
        #expect(await answers.first(2) == [true, true])
    }

    /// Keeps what was answered.
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
        // One character, to Swift.
        let long = "e" + String(repeating: "\u{301}", count: 100_000)
        FetchCompletion(channel, ticket).reject(long)
        FetchCompletion(channel, ticket).fail(Wordy(description: long))
        let cut = "e" + String(repeating: "\u{301}", count: 499)
        // Letting go of a completion answers too, which does not count.
        let verdicts = channel.verdicts.withLock { $0 }
        #expect(verdicts == [.rejected(cut), .unanswered, .threw(cut), .unanswered])
    }

    @Test func theSecondAnswerDoesNotCount() async throws {
        let answers = Answers()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, _, completion in
                answers.add(completion(.noData))
                answers.add(completion(.failed))
                answers.add(completion.reject("no"))
            })
        fixture.deliver([.push(1)])
        #expect(await answers.first(3) == [true, false, false])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.done(.noData)])
    }

    @Test func theSecondAnswerDoesNotCountAfterTheCallEither() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                completion(.newData)
                shelf.put(completion, attempt: context.attempt)
            })
        fixture.deliver([.push(1)])
        await fixture.store.changes.first(1)
        await shelf.count.first(1)
        let completion = try #require(shelf.take())
        #expect(!completion(.newData))
        await fixture.settle()
        #expect(fixture.events == [.received, .started(attempt: 1), .done(.newData, attempt: 1, isLate: false)])
    }

    @Test func ofConcurrentAnswersOneCounts() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        for sequence in Int64(1)...30 {
            fixture.deliver([.push(sequence)])
            await shelf.count.first(Int(sequence))
            let completion = try #require(shelf.take())
            let counted = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<6 { group.addTask { completion(index % 2 == 0 ? .newData : .noData) } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(counted == 1)
        }
        #expect(await fixture.store.changes.first(30).count == 30)
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

    @Test func lettingGoUnansweredIsAFailure() async throws {
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, _ in })
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .unanswered)])
    }

    @Test func lettingGoLaterIsAFailureToo() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1)])
        await shelf.count.first(1)
        _ = shelf.take()
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .unanswered)])
    }

    @Test func answeringLaterEndsTheMessageAndLetsTheNextOneStart() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1), .push(2)])
        await shelf.count.first(1)
        #expect(shelf.answer(.newData) == true)
        await shelf.count.first(2)
        #expect(shelf.answer(.noData) == true)
        #expect(await fixture.store.changes.first(2).map(\.verdict) == [.done(.newData), .done(.noData)])
    }

    @Test func neverAnsweringTimesOutAndALateSuccessCounts() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1)])
        await shelf.count.first(1)
        await fixture.advance(.seconds(30))
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .timedOut)])
        let completion = try #require(shelf.take())
        #expect(!completion(.failed))
        #expect(!completion.reject("no"))
        #expect(completion(.newData))
        #expect(!completion(.newData))
        #expect(await fixture.store.changes.first(2).map(\.verdict).last == .done(.newData))
        await fixture.settle()
        #expect(
            fixture.events == [
                .received, .started(attempt: 1), .failed(attempt: 1, .timedOut, retryAfter: .seconds(1)),
                .late(attempt: 1), .late(attempt: 1), .done(.newData, attempt: 1, isLate: true),
            ])
    }

    @Test func aLateSuccessAfterTheNextAttemptHasStartedDoesNotCount() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1)])
        await shelf.count.first(1)
        await fixture.advance(.seconds(30))
        await fixture.store.changes.first(1)
        await fixture.advance(.seconds(1))
        #expect(await shelf.count.first(2) == [1, 2])
        let (first, second) = (try #require(shelf.take()), try #require(shelf.take()))
        #expect(!first(.newData))
        #expect(second(.noData))
        #expect(await fixture.store.changes.first(2).map(\.verdict).last == .done(.noData))
    }

    @Test func blockingPastTheDeadlineFailsAndTheRetryWaits() async throws {
        let started = Journal<Int>()
        let release = DispatchSemaphore(value: 0)
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                started.add(context.attempt)
                if context.attempt == 1 {
                    release.wait()
                    release.signal()
                }
                completion(.newData)
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        await fixture.advance(.seconds(30))
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .timedOut)])
        await fixture.advance(.seconds(299))
        #expect(started.entries == [1])
        await fixture.advance(.seconds(1))
        // A fresh thread, while the old call still holds its own.
        #expect(await started.first(2) == [1, 2])
        #expect(fixture.events.count { $0 == .stuck(attempt: 1) } == 1)
        release.signal()
    }

    @Test func rejectingIsADeadLetterAtOnce() async throws {
        let answers = Answers()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, _, completion in
                answers.add(completion.reject(String(repeating: "x", count: 600)))
            })
        fixture.deliver([.push(1)])
        let reason = String(repeating: "x", count: 500)
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.dead(.rejected(reason))])
        #expect(await answers.first(1) == [true])
    }

    @Test func answeringAfterAShutdownDoesNotCount() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1)])
        await shelf.count.first(1)
        fixture.workers.shutdown()
        #expect(shelf.answer(.newData) == false)
        #expect(fixture.store.changes.entries == [])
    }

    @Test func answeringWhileDrainingCounts() async throws {
        let shelf = Shelf()
        let fixture = try await DeliveryFixture(ClosureHandler { shelf.put($2, attempt: $1.attempt) })
        fixture.deliver([.push(1), .push(2)])
        await shelf.count.first(1)
        fixture.drain()
        let isDrained = fixture.wait(for: .calls(of: nil), within: .seconds(5))
        #expect(await fixture.store.changes.first(1) == [.change(2, .back())])
        #expect(shelf.answer(.newData) == true)
        #expect(await isDrained.value())
        await fixture.settle()
        #expect(fixture.store.changes.entries.last == .change(1, .done(.newData), attempts: 1))
    }
}
