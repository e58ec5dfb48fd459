import Foundation
import KiiPushCore
import TestSupport
import Testing

/// Twelve ways to misuse a completion. Each leaves the message in a defined state, and affects no other message.
///
/// The table in `Documentation/delivery.md` lists the results.
@Suite struct CompletionMisuseTests {
    static let deadline = Duration.seconds(30)
    static let pause = Duration.seconds(1)

    /// The events of a first attempt that fails with `failure` before a retry.
    static func failure(_ failure: DeliveryFailure) -> [MessageEvent.Kind] {
        [.received, .started(attempt: 1), .failed(attempt: 1, failure, retryAfter: Self.pause)]
    }

    /// Sends a message, and lets its first attempt time out.
    static func letTheFirstAttemptTimeOut(_ stage: MisuseStage) async throws {
        try await stage.send(1)
        _ = await stage.life { $0 == .started(attempt: 1) }
        stage.advance(Self.deadline)
        #expect(await stage.life(until: \.isRetry) == Self.failure(.timedOut).suffix(1))
    }

    // MARK: - 1 to 3: how often

    @Test func neverAnsweringTimesOutUntilTheMessageIsADeadLetter() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let outcome = try await scene.play(shelf.handler) { stage in
                try await Self.letTheFirstAttemptTimeOut(stage)
                stage.advance(Self.pause)
                #expect(await stage.life { $0 == .started(attempt: 2) } == [.started(attempt: 2)])
                stage.advance(Self.deadline)
                #expect(await stage.life() == [.dead(.attemptsFailed(.timedOut), attempt: 2)])
            }
            let row = try #require(outcome.rows[1])
            #expect(row.state == .dead)
            #expect(row.reason == "timedOut")
            #expect(row.attempts == 2)
            #expect(String(decoding: row.payload, as: UTF8.self).contains(#""n":1"#))
        }
    }

    @Test func answeringTwiceIsTheFirstAnswer() async throws {
        try await withMisuseScene { scene in
            let (answers, answer) = AsyncStream<Bool>.makeStream()
            let handler = MisusingHandler { _, completion in
                answer.yield(completion(.noData))
                answer.yield(completion(.failed))
                answer.yield(completion.reject("changed my mind"))
                answer.finish()
            }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                #expect(
                    await stage.life() == [.received, .started(attempt: 1), .done(.noData, attempt: 1, isLate: false)])
                #expect(await answers.reduce(into: []) { $0.append($1) } == [true, false, false])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func ofConcurrentAnswersOneCounts() async throws {
        try await withMisuseScene { scene in
            let verdicts: [MessageEvent.Kind] = [
                .done(.newData, attempt: 1, isLate: false), .done(.noData, attempt: 1, isLate: false),
                .dead(.rejected("no"), attempt: 1),
            ]
            let winners = Locked<[Int]>([])
            let lives = Locked<[[MessageEvent.Kind]]>([])
            let handler = MisusingHandler { _, completion in
                DispatchQueue.concurrentPerform(iterations: 8) { index in
                    let counts =
                        switch index % 3 {
                        case 0: completion(.newData)
                        case 1: completion(.noData)
                        default: completion.reject("no")
                        }
                    if counts { winners.withLock { $0.append(index % 3) } }
                }
            }
            let outcome = try await scene.play(handler) { stage in
                for number in 1...10 {
                    try await stage.send(number)
                    let life = await stage.life(of: Int64(number))
                    lives.withLock { $0.append(life) }
                }
            }
            // The handler has returned, so it gives no more answers.
            let counted = winners.withLock { $0 }
            let expected: [[MessageEvent.Kind]] = counted.map { [.received, .started(attempt: 1), verdicts[$0]] }
            #expect(lives.withLock { $0 } == expected)
            for (number, winner) in zip(Int64(1)..., counted) {
                #expect(outcome.rows[number]?.state == (winner == 2 ? .dead : .done))
            }
        }
    }

    // MARK: - 4 to 6: when and where

    @Test func aSuccessAfterTheDeadlineCountsUntilTheNextAttemptStarts() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let outcome = try await scene.play(shelf.handler) { stage in
                try await Self.letTheFirstAttemptTimeOut(stage)
                let completion = try await shelf.take()
                #expect(!completion(.failed))
                #expect(!completion.reject("no"))
                #expect(completion(.newData))
                #expect(!completion(.newData))
                #expect(
                    await stage.life() == [
                        .late(attempt: 1), .late(attempt: 1), .done(.newData, attempt: 1, isLate: true),
                    ])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func aSuccessAfterTheNextAttemptHasStartedDoesNotCount() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let outcome = try await scene.play(shelf.handler) { stage in
                try await Self.letTheFirstAttemptTimeOut(stage)
                stage.advance(Self.pause)
                let (first, second) = (try await shelf.take(), try await shelf.take())
                #expect(!first(.newData))
                // The second attempt is independent of the first.
                #expect(second(.noData))
                #expect(
                    await stage.life() == [
                        .started(attempt: 2), .late(attempt: 1), .done(.noData, attempt: 2, isLate: false),
                    ])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func answeringFromAnotherThreadAfterTheCallCounts() async throws {
        try await withMisuseScene { scene in
            let (answers, answer) = AsyncStream<Bool>.makeStream()
            let handler = MisusingHandler { _, completion in
                Thread.detachNewThread {
                    answer.yield(completion(.noData))
                    answer.finish()
                }
            }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                #expect(
                    await stage.life() == [.received, .started(attempt: 1), .done(.noData, attempt: 1, isLate: false)])
                #expect(await answers.reduce(into: []) { $0.append($1) } == [true])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func answeringWhileTheAgentStopsCounts() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let answered = Locked<Bool?>(nil)
            let answering = Locked<Task<Void, any Error>?>(nil)
            let outcome = try await scene.play(shelf.handler, endsInHandler: true) { stage in
                try await stage.send(1)
                _ = await stage.happenings { $0.kind == .started(attempt: 1) }
                let task = Task {
                    _ = await firstEvent(stage.events) { if case .stopping = $0 { true } else { false } }
                    let counts = try await shelf.take()(.newData)
                    answered.withLock { $0 = counts }
                }
                answering.withLock { $0 = task }
            }
            try await answering.withLock { $0 }?.value
            #expect(answered.withLock { $0 } == true)
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func answeringAfterTheShutdownDoesNotCountAndTheNextProcessDeliversAgain() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let outcome = try await scene.play(shelf.handler, { $0.shutdownGrace = .zero }, endsInHandler: true) {
                stage in
                try await stage.send(1)
                _ = await stage.happenings { $0.kind == .started(attempt: 1) }
            }
            #expect(outcome.rows[1]?.state == .inHand)
            #expect(try await !shelf.take()(.newData))
            let next = try await scene.play(MisusingHandler { $1(.newData) }) { stage in
                // The unanswered message may have crashed the process, so its attempt is counted before the handler
                // runs.
                #expect(await stage.life().last == .done(.newData, attempt: 1, isLate: false))
            }
            #expect(next.rows[1]?.state == .done)
        }
    }
}
