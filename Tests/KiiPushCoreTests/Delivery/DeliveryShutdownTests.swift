import Foundation
import Testing

@testable import KiiPushCore

@Suite struct DeliveryShutdownTests {
    private func threadCount(_ name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            // A thread may end while the test reads its name.
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    private func fixture(_ name: String, _ handler: any NotificationHandler) async throws -> DeliveryFixture {
        let threads = DeliveryThreads { _, body throws(SystemError) in try OSThread(name: name, body) }
        return try await DeliveryFixture(TestReceiver(handler: handler), threads: threads)
    }

    /// Shutdown does not wait for a thread in a handler. The thread ends a moment after its handler returns.
    private func waitUntilGone(_ name: String) async {
        while self.threadCount(name) > 0 { await Task.yield() }
    }

    @Test func anEndLeavesNoThreadBehind() async throws {
        let name = "kd-letgo"
        let fixture = try await self.fixture(name, ClosureHandler { _, _, completion in completion(.failed) })
        fixture.deliver((0..<100).map { .push($0, source: "\($0 % 10)") })
        await fixture.store.changes.first(100)
        #expect(self.threadCount(name) >= 1)
        fixture.end()
        await self.waitUntilGone(name)
    }

    @Test func aShutdownDoesNotWaitForAHandler() async throws {
        let name = "kd-busy"
        let started = Journal<Int>()
        let release = DispatchSemaphore(value: 0)
        let fixture = try await self.fixture(
            name,
            ClosureHandler { _, _, completion in
                started.add(1)
                release.wait()
                release.signal()
                completion(.newData)
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        fixture.workers.shutdown()
        fixture.workers.shutdown()
        // The kernel lists a thread for a moment after its end.
        while self.threadCount(name) > 1 { await Task.yield() }
        #expect(self.threadCount(name) == 1)
        release.signal()
        await self.waitUntilGone(name)
        await fixture.settle()
        #expect(fixture.store.changes.entries == [])
    }

    @Test func whatAnswersAfterAShutdownOfItsTaskDoesNotCount() async throws {
        let (started, cancelled, counted) = (Journal<Int>(), Journal<Int>(), Journal<Int>())
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, _ in
                started.add(1)
                _ = await withTaskCancellationHandler {
                    await cancelled.first(1)
                } onCancel: {
                    cancelled.add(1)
                }
                counted.add(1)
                return .newData
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        // The shutdown cancels the handler's task.
        fixture.workers.shutdown()
        await counted.first(1)
        await fixture.settle()
        #expect(fixture.store.changes.entries == [])
    }

    private func fixtureWithEarlyAnswer(
        _ release: DispatchSemaphore, _ answered: Journal<Bool>
    ) async throws -> DeliveryFixture {
        try await DeliveryFixture(
            ClosureHandler { _, _, completion in
                answered.add(completion(.newData))
                release.wait()
                release.signal()
            })
    }

    @Test(arguments: [true, false])
    func anEarlyAnswerOfAHandlerThatGoesOnIsStoredAsDeliveryStops(isWhole: Bool) async throws {
        let (release, answered) = (DispatchSemaphore(value: 0), Journal<Bool>())
        let fixture = try await self.fixtureWithEarlyAnswer(release, answered)
        fixture.deliver([.push(1)])
        #expect(await answered.first(1) == [true])
        if isWhole { fixture.drain() } else { fixture.detach() }
        let isIdle = await fixture.wait(for: .calls(of: isWhole ? nil : 1), within: .zero).value()
        #expect(!isIdle)
        await fixture.settle()
        #expect(fixture.store.changes.entries == [.change(1, .done(.newData), attempts: 1)])
        release.signal()
    }

    @Test func afterAShutdownEveryAnswerIsStoredOrRefused() async throws {
        let counted = Journal<Int64>()
        let held = Locked<[FetchCompletion]>([])
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                held.withLock { $0.append(completion) }
                counted.add(context.messageID)
            })
        fixture.deliver([.push(1, source: "a"), .push(2, source: "b")])
        let order = await counted.first(2)
        let completions = held.withLock { $0 }
        held.withLock { $0 = [] }
        // The loop is blocked, so it takes the first answer in its last turn.
        let (isBusy, release) = (Journal<Int>(), DispatchSemaphore(value: 0))
        fixture.loop.submit {
            isBusy.add(1)
            release.wait()
        }
        await isBusy.first(1)
        #expect(completions[0](.newData))
        fixture.workers.shutdown()
        #expect(!completions[1](.newData))
        release.signal()
        fixture.end()
        #expect(fixture.store.verdicts == [.done(.newData)])
        #expect(Set(order) == [1, 2])
    }

    @Test func aHandlerMayShutItsOwnWorkersDown() async throws {
        let box = Locked<Workers?>(nil)
        let done = Journal<Int>()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, _, completion in
                box.withLock { $0 }?.shutdown()
                done.add(1)
            })
        box.withLock { [workers = fixture.workers] in $0 = workers }
        fixture.deliver([.push(1)])
        #expect(await done.first(1) == [1])
        box.withLock { $0 = nil }
        await fixture.settle()
        #expect(fixture.store.changes.entries == [])
    }

    @Test func drainingWaitsForWhatRunsAndGivesBackTheRest() async throws {
        let started = Journal<Int64>()
        let gate = Journal<Int>()
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, context in
                started.add(context.messageID)
                await gate.first(1)
                return .newData
            })
        fixture.deliver((1...5).map { .push($0) })
        await started.first(1)
        fixture.drain()
        let isDrained = fixture.wait(for: .calls(of: nil), within: .seconds(10))
        #expect(await fixture.store.changes.first(4) == (2...5).reversed().map { .change($0, .back()) })
        fixture.receive(#"{"topic":"a","objectScopeType":"APP","objectScopeAppID":"x"}"#)
        await fixture.settle()
        #expect(fixture.store.standing(6) == .waiting)
        gate.add(1)
        #expect(await isDrained.value())
        await fixture.settle()
        #expect(fixture.store.changes.entries.last == .change(1, .done(.newData), attempts: 1))
        #expect(started.entries == [1])
    }

    @Test func drainingEndsAtItsDeadline() async throws {
        let started = Journal<Int>()
        let gate = Journal<Int>()
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, _ in
                started.add(1)
                await gate.first(1)
                return .newData
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        fixture.drain()
        let isDrained = fixture.wait(for: .calls(of: nil), within: .seconds(10))
        await fixture.advance(.seconds(11))
        #expect(await !isDrained.value())
        // The message stays in state `inHand`, because its handler has not answered.
        #expect(fixture.store.changes.entries == [])
        #expect(fixture.store.standing(1) == .inHand)
        gate.add(1)
    }

    /// The clock stands still, so the deadline cannot end this wait. Reads from the start may still be running.
    @Test func anIdleDeliveryDrainsWithoutWaitingForTheDeadline() async throws {
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, _ in })
        fixture.drain()
        #expect(await fixture.wait(for: .calls(of: nil), within: .seconds(1)).value())
    }
}
