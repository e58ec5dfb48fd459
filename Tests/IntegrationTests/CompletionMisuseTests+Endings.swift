import Foundation
import KiiPushCore
import TestSupport
import Testing

extension CompletionMisuseTests {
    // MARK: - 7 to 10: how not

    @Test func throwingIsAFailureWithTheErrorKept() async throws {
        struct Refusal: Error, CustomStringConvertible {
            var description: String { String(repeating: "x", count: 600) }
        }
        try await withMisuseScene { scene in
            let kept = String(repeating: "x", count: 500)
            let handler = AsyncMisusingHandler { _ in throw Refusal() }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                #expect(await stage.life(until: \.isRetry) == Self.failure(.threw(kept)))
                stage.advance(Self.pause)
                #expect(await stage.life() == [.started(attempt: 2), .dead(.attemptsFailed(.threw(kept)), attempt: 2)])
            }
            #expect(outcome.rows[1]?.state == .dead)
            #expect(outcome.rows[1]?.reason == "threw: \(kept)")
        }
    }

    @Test func aHandlerThatCancelsItselfHasFailed() async throws {
        try await withMisuseScene { scene in
            let handler = AsyncMisusingHandler { context in
                if context.attempt == 1 { withUnsafeCurrentTask { $0?.cancel() } }
                try Task.checkCancellation()
                return .newData
            }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                #expect(await stage.life(until: \.isRetry) == Self.failure(.threw("CancellationError()")))
                stage.advance(Self.pause)
                #expect(await stage.life() == [.started(attempt: 2), .done(.newData, attempt: 2, isLate: false)])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func aHandlerThatIsCancelledAtItsDeadlineHasTimedOut() async throws {
        try await withMisuseScene { scene in
            let handler = AsyncMisusingHandler { context in
                if context.attempt == 1 { try await Task.sleep(for: .seconds(6000)) }
                return .newData
            }
            let outcome = try await scene.play(handler) { stage in
                try await Self.letTheFirstAttemptTimeOut(stage)
                stage.advance(Self.pause)
                #expect(await stage.life() == [.started(attempt: 2), .done(.newData, attempt: 2, isLate: false)])
            }
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    @Test func aHandlerThatNeverReturnsLosesItsPlaceAndHoldsUpNoOther() async throws {
        try await withMisuseScene { scene in
            let release = DispatchSemaphore(value: 0)
            let answers = Locked<[Bool]>([])
            let handler = MisusingHandler { _, completion in
                release.wait()
                let counts = completion(.newData)
                answers.withLock { $0.append(counts) }
            }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                _ = await stage.life { $0 == .started(attempt: 1) }
                // A message of another source is handled while the first handler blocks.
                try await stage.send(1001, source: "b")
                #expect(await stage.life(of: 2).last == .done(.newData, attempt: 1, isLate: false))
                stage.advance(Self.deadline)
                #expect(await stage.life(until: \.isRetry) == Self.failure(.timedOut).suffix(1))
                // The retry waits 5 min for the blocked call, and then gets a new thread.
                stage.advance(Self.pause)
                stage.advance(.seconds(300))
                #expect(
                    await stage.life { $0 == .started(attempt: 2) } == [.stuck(attempt: 1), .started(attempt: 2)])
                stage.advance(Self.deadline)
                #expect(await stage.life() == [.dead(.attemptsFailed(.timedOut), attempt: 2)])
                stage.advance(.seconds(300))
            }
            // The blocked calls return only now, and their answers no longer count.
            release.signal()
            release.signal()
            while answers.withLock({ $0.count }) < 2 { await Task.yield() }
            #expect(answers.withLock { $0 } == [false, false])
            #expect(outcome.rows[1]?.state == .dead)
            #expect(outcome.rows[1]?.reason == "timedOut")
            #expect(outcome.rows[2]?.state == .done)
        }
    }

    @Test func lettingGoOfTheCompletionIsAFailure() async throws {
        try await withMisuseScene { scene in
            let outcome = try await scene.play(MisusingHandler { _, _ in }) { stage in
                try await stage.send(1)
                #expect(await stage.life(until: \.isRetry) == Self.failure(.unanswered))
                stage.advance(Self.pause)
                #expect(await stage.life() == [.started(attempt: 2), .dead(.attemptsFailed(.unanswered), attempt: 2)])
            }
            #expect(outcome.rows[1]?.state == .dead)
            #expect(outcome.rows[1]?.reason == "unanswered")
        }
    }

    @Test func answeringAtOnceAndGoingOnIsStoredByTheShutdown() async throws {
        try await withMisuseScene { scene in
            let release = DispatchSemaphore(value: 0)
            let (answers, answer) = AsyncStream<Bool>.makeStream()
            let handler = MisusingHandler { _, completion in
                answer.yield(completion(.newData))
                release.wait()
            }
            let outcome = try await scene.play(handler, { $0.shutdownGrace = .zero }, endsInHandler: true) { stage in
                try await stage.send(1)
                for await counts in answers {
                    #expect(counts)
                    break
                }
            }
            release.signal()
            #expect(outcome.rows[1]?.state == .done)
        }
    }

    // MARK: - 11 and 12: what the answer is worth

    private func isDone(_ sequence: Int64, in directory: String) throws -> Bool {
        var access = Inbox.Configuration()
        access.isReadOnly = true
        let inbox = try Inbox(path: "\(directory)/inbox.sqlite", configuration: access)
        return try inbox.row(sequence)?.state == .done
    }

    @Test func answeringAndThenEndingTheProcessIsACrashOfThatMessageAlone() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, _ in
                let process = MisusingProcess(state: directory)
                // The first run has two more messages in progress; in the later runs message 3 is alone. Two crashes
                // alone make it a dead letter.
                for start in 1...3 {
                    try process.start(isFirst: start == 1)
                    if start == 1 {
                        try await broker.play { broker in
                            let connection = try broker.acceptSession()
                            for number in [1000, 1001] {
                                try connection.send(
                                    .message(number, of: "source-\(number)", packetID: UInt16(number)))
                            }
                            _ = try connection.receiveAcknowledgements(2)
                            try connection.send(.message(1, of: "source-1", packetID: 1))
                        }
                    }
                    #expect(try await process.waitForEnd() == SIGKILL)
                    // A busy machine may store the answer before the process ends. The answer then counts, and there is
                    // no crash.
                    if try self.isDone(3, in: directory) { return }
                }
                try process.start(isFirst: false)
                let inbox = try InboxReader(stateDirectory: directory)
                while try inbox.ledger().dead < 1 { try await Task.sleep(for: .milliseconds(20)) }
                try await process.stop()
                var access = Inbox.Configuration()
                access.isReadOnly = true
                let rows = try Inbox(path: "\(directory)/inbox.sqlite", configuration: access)
                let poison = try #require(try rows.deadLetters(limit: 9).first)
                #expect(poison.sequence == 3)
                #expect(poison.reason == "crashed")
                #expect(poison.crashes == 2)
                #expect(try rows.rows(.done, limit: 9).map(\.sequence) == [1, 2])
                #expect(rows.messageLedger == MessageLedger(received: 3, done: 2, dead: 1))
            }
        }
    }

    @Test func answeringBeforeTheWorkIsSafeGivesTheMessageUp() async throws {
        try await withMisuseScene { scene in
            let shelf = CompletionShelf()
            let handler = MisusingHandler { _, completion in
                completion(.newData)
                // The work continues in another thread; its result comes after the verdict.
                shelf.put(completion)
            }
            let outcome = try await scene.play(handler) { stage in
                try await stage.send(1)
                #expect(await stage.life().last == .done(.newData, attempt: 1, isLate: false))
                let completion = try await shelf.take()
                #expect(!completion(.failed))
                #expect(!completion(.newData))
            }
            #expect(outcome.rows[1]?.state == .done)
            // Another process does not repeat the message either.
            let seen = Locked<[Int64]>([])
            let next = MisusingHandler { context, completion in
                seen.withLock { $0.append(context.messageID) }
                completion(.newData)
            }
            _ = try await scene.play(next) { stage in
                try await stage.send(2)
                #expect(await stage.life(of: 3).last == .done(.newData, attempt: 1, isLate: false))
            }
            #expect(seen.withLock { $0 } == [3])
        }
    }
}
