import Foundation
import KiiPushCore
import Testing

/// A store that answers when it is told to.
private final class HoldingStore: DeliveryStore {
    let changes = Journal<DeliveryChange>()
    let asked = Journal<DeliveryLoad>()
    private let held = Locked<[@Sendable (DeliveryPage) -> Void]>([])

    func record(_ changes: [DeliveryChange]) {
        for change in changes { self.changes.add(change.untimed) }
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        self.held.withLock { $0.append(deliver) }
        self.asked.add(request)
    }

    func answer(_ page: DeliveryPage) {
        let held = self.held.withLock { $0 }
        for deliver in held { deliver(page) }
    }
}

/// A store whose first record takes until it is released.
private final class SlowStore: DeliveryStore {
    let changes = Journal<DeliveryChange>()
    let entered = Journal<Int>()
    private let gate = DispatchSemaphore(value: 0)

    func release() { self.gate.signal() }

    func record(_ changes: [DeliveryChange]) {
        self.entered.add(1)
        if self.entered.entries.count == 1 { self.gate.wait() }
        for change in changes { self.changes.add(change) }
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        deliver(DeliveryPage(messages: [], isComplete: true))
    }
}

@Suite struct DeliveryShutdownTests {
    /// How many threads of this process have this name.
    private func threadCount(_ name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            // A thread may end while its name is being read.
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    @Test func lettingGoOfTheRunnerLeavesNoThreadBehind() async {
        let name = "kd-letgo"
        var fixture: RunnerFixture? = RunnerFixture(ClosureHandler { _, _, completion in completion(.failed) }) {
            $0.threadName = name
        }
        fixture?.deliver((0..<100).map { .push($0, source: "\($0 % 10)") })
        await fixture?.store.changes.first(100)
        #expect(self.threadCount(name) >= 2)
        fixture = nil
        await self.waitUntilGone(name)
    }

    /// A thread that was in a handler is not waited for; it ends a moment after it has returned.
    private func waitUntilGone(_ name: String) async {
        while self.threadCount(name) > 0 { await Task.yield() }
    }

    @Test func aShutdownDoesNotWaitForAHandler() async {
        let name = "kd-busy"
        let started = Journal<Int>()
        let release = DispatchSemaphore(value: 0)
        let fixture = RunnerFixture(
            ClosureHandler { _, _, completion in
                started.add(1)
                release.wait()
                release.signal()
                completion(.newData)
            }
        ) { $0.threadName = name }
        fixture.deliver([.push(1)])
        await started.first(1)
        fixture.runner.shutdown()
        fixture.runner.shutdown()
        // The kernel lists a thread for a moment longer than it takes to join it.
        while self.threadCount(name) > 1 { await Task.yield() }
        #expect(self.threadCount(name) == 1)
        release.signal()
        await self.waitUntilGone(name)
        #expect(fixture.store.changes.entries == [])
    }

    /// A handler that answers at once and goes on for as long as the test likes.
    private func fixtureWithEarlyAnswer(_ release: DispatchSemaphore, _ answered: Journal<Bool>) -> RunnerFixture {
        RunnerFixture(
            ClosureHandler { _, _, completion in
                answered.add(completion(.newData))
                release.wait()
                release.signal()
            })
    }

    private static let done = [DeliveryChange.change(1, .done(.newData), attempts: 1)]

    @Test func anEarlyAnswerOfAHandlerThatGoesOnIsStoredByADrain() async {
        let (release, answered) = (DispatchSemaphore(value: 0), Journal<Bool>())
        let fixture = self.fixtureWithEarlyAnswer(release, answered)
        fixture.deliver([.push(1)])
        #expect(await answered.first(1) == [true])
        #expect(await !fixture.runner.drain(until: fixture.clock.now))
        #expect(fixture.store.changes.entries == Self.done)
        release.signal()
    }

    @Test func anEarlyAnswerOfAHandlerThatGoesOnIsStoredByADetachment() async {
        let (release, answered) = (DispatchSemaphore(value: 0), Journal<Bool>())
        let fixture = self.fixtureWithEarlyAnswer(release, answered)
        fixture.deliver([.push(1)])
        #expect(await answered.first(1) == [true])
        #expect(await !fixture.runner.detach(installation: 1, until: fixture.clock.now))
        #expect(fixture.store.changes.entries == Self.done)
        release.signal()
    }

    @Test func afterAShutdownEveryAnswerIsWithTheStoreOrRefused() async {
        let store = SlowStore()
        let counted = Journal<Bool>()
        let held = Locked<[FetchCompletion]>([])
        // No deadline comes.
        let start = MonotonicInstant.now()
        let runner = DeliveryRunner(store: store, clock: { start })
        runner.attach(
            installation: 1, id: "i",
            receiver: TestReceiver(
                handler: ClosureHandler { _, _, completion in
                    held.withLock { $0.append(completion) }
                    counted.add(true)
                }))
        runner.release(-2)
        runner.deliver([.push(1, source: "a"), .push(2, source: "b")])
        await counted.first(2)
        let completions = held.withLock { $0 }
        // One thread is about to hand over the first answer, and leaves the second one to it.
        let thread = Thread { _ = completions[0](.newData) }
        thread.start()
        await store.entered.first(1)
        #expect(completions[1](.newData))
        Thread { store.release() }.start()
        runner.shutdown()
        #expect(store.changes.entries.count == 2)
    }

    @Test func aHandlerMayShutItsOwnRunnerDown() async {
        let box = Locked<DeliveryRunner?>(nil)
        let done = Journal<Int>()
        let fixture = RunnerFixture(
            ClosureHandler { _, _, completion in
                box.withLock { $0 }?.shutdown()
                done.add(1)
            })
        box.withLock { [runner = fixture.runner] in $0 = runner }
        fixture.deliver([.push(1)])
        await done.first(1)
        box.withLock { $0 = nil }
    }

    @Test func drainingWaitsForWhatRunsAndGivesBackTheRest() async {
        let started = Journal<Int64>()
        let gate = Journal<Int>()
        let fixture = RunnerFixture(
            AsyncClosureHandler { _, context in
                started.add(context.messageID)
                await gate.first(1)
                return .newData
            })
        fixture.deliver((1...5).map { .push($0) })
        await started.first(1)
        async let isDrained = fixture.runner.drain(until: fixture.clock.now + .seconds(10))
        #expect(await fixture.store.changes.first(4) == (2...5).reversed().map { .change($0, .waiting) })
        // What comes now waits in the store.
        #expect(fixture.runner.reserve(1, installation: 1, bytes: { _ in 0 }) == 0)
        fixture.deliver([.push(6)])
        #expect(await fixture.store.changes.first(5).last == .change(6, .waiting))
        gate.add(1)
        #expect(await isDrained)
        #expect(fixture.store.changes.entries.last == .change(1, .done(.newData), attempts: 1))
        #expect(started.entries == [1])
    }

    @Test func drainingEndsAtItsDeadline() async {
        let started = Journal<Int>()
        let gate = Journal<Int>()
        let fixture = RunnerFixture(
            AsyncClosureHandler { _, _ in
                started.add(1)
                await gate.first(1)
                return .newData
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        let draining = Journal<Int>()
        async let isDrained = {
            draining.add(1)
            return await fixture.runner.drain(until: fixture.clock.now + .seconds(10))
        }()
        await draining.first(1)
        while fixture.runner.reserve(1, installation: 1, bytes: { _ in 0 }) > 0 {
            fixture.runner.release(1)
            await Task.yield()
        }
        fixture.clock.advance(.seconds(11), fixture.runner)
        #expect(await !isDrained)
        // It stays in hand: nothing was said about it.
        #expect(fixture.store.changes.entries == [])
        gate.add(1)
    }

    /// The clock stands still, so this ends by the runner's being idle or not at all. What the runner reads from its
    /// store at the start may still be under way.
    @Test func anIdleRunnerDrainsWithoutWaitingForTheDeadline() async {
        let fixture = RunnerFixture(ClosureHandler { _, _, _ in })
        #expect(await fixture.runner.drain(until: fixture.clock.now + .seconds(1)))
    }

    @Test func aPageThatComesAfterTheDrainIsGivenBack() async throws {
        let store = HoldingStore()
        let runner = DeliveryRunner(store: store)
        runner.attach(installation: 1, id: "i", receiver: TestReceiver(handler: ClosureHandler { _, _, _ in }))
        await store.asked.first(1)
        #expect(await runner.drain(until: .now() + .seconds(60)))
        let suspect = StoredMessage.push(1).with { $0.wasInHand = true }
        store.answer(DeliveryPage(messages: [suspect, .push(2)], isComplete: true))
        // The suspect stays in hand.
        #expect(store.changes.entries == [.change(2, .waiting)])
    }
}
