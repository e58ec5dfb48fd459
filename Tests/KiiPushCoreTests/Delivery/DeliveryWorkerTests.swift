import KiiPushCore
import Testing

/// Delivery without threads: the test takes a worker's steps, and time stands still in between.
@Suite struct DeliveryWorkerTests {
    private static func fixture(
        _ body: @escaping @Sendable (DeliveryContext, FetchCompletion, TestClock) -> Void
    ) -> RunnerFixture {
        let clock = TestClock()
        return RunnerFixture(
            TestReceiver(handler: ClosureHandler { _, context, completion in body(context, completion, clock) }),
            clock: clock, threads: .none(onWork: {}))
    }

    /// Has the worker take what there is until it has a message to hand over.
    private static func take(_ worker: DeliveryWorker) { while !worker.hasCall, worker.takeJob() {} }

    // A source's first claim is of one message, the second of two.
    @Test func anAttemptBeginsWhenItsHandlerIsCalled() {
        let deadlines = Journal<MonotonicInstant>()
        let fixture = Self.fixture { context, completion, clock in
            deadlines.add(context.deadlineInstant)
            completion(.newData)
            // It goes on after its answer.
            if context.messageID == 2 { clock.advanceUnseen(.seconds(20)) }
        }
        fixture.deliver([.push(1), .push(2), .push(3)])
        let worker = DeliveryWorker(fixture.runner)
        var begun: [MonotonicInstant] = []
        for _ in 1...3 {
            Self.take(worker)
            begun.append(fixture.clock.now)
            #expect(worker.call() == .returned)
            worker.callReturned()
        }
        #expect(deadlines.entries == begun.map { $0 + .seconds(30) })
    }

    @Test func anAnswerIsStoredWhileTheNextMessageOfItsClaimRuns() {
        let fixture = Self.fixture { _, completion, _ in completion(.newData) }
        fixture.deliver([.push(1), .push(2), .push(3)])
        let worker = DeliveryWorker(fixture.runner)
        for _ in 1...2 {
            Self.take(worker)
            #expect(worker.call() == .returned)
            worker.callReturned()
        }
        #expect(worker.hasCall)
        #expect(fixture.store.changes.entries.map(\.sequence) == [1])
        fixture.clock.advance(.milliseconds(100), fixture.runner)
        #expect(fixture.store.changes.entries.map(\.sequence) == [1, 2])
        // What is answered from now on is stored at once, so nobody looks again.
        #expect(fixture.runner.nextDeadline.map { $0 - fixture.clock.now > .seconds(29) } == true)
    }

    /// Delivery looks once in a claim. A message that started after that would go on unseen, past its time.
    @Test func noOtherMessageOfAClaimStartsOnceItsAnswersWereCollected() {
        let fixture = Self.fixture { _, completion, _ in completion(.newData) }
        fixture.deliver([.push(1), .push(2), .push(3)])
        let worker = DeliveryWorker(fixture.runner)
        Self.take(worker)
        #expect(worker.call() == .returned)
        worker.callReturned()
        Self.take(worker)
        #expect(worker.call() == .returned)
        // The worker's thread stood still before it told that the call has returned.
        fixture.runner.collectAnswers()
        worker.callReturned()
        #expect(!worker.hasCall)
        Self.take(worker)
        #expect(worker.call() == .returned)
        worker.callReturned()
        #expect(fixture.store.changes.entries.map(\.sequence) == [1, 2, 3])
    }

    /// The store may be cut off amid what is given back. What is in hand then starts before what waits, so the last ones wait
    /// first.
    @Test(arguments: [false, true])
    func whatHasNotStartedWaitsAgainTheLastOneFirst(isWholeRunner: Bool) async {
        let fixture = Self.fixture { _, completion, _ in completion(.newData) }
        fixture.deliver([.push(1), .push(2), .push(3)])
        let worker = DeliveryWorker(fixture.runner)
        Self.take(worker)
        // The only worker is in a call, and takes no other step.
        #expect(worker.hasCall)
        fixture.deliver([.push(4), .push(5)])
        fixture.deliver([.push(6)])
        if isWholeRunner {
            #expect(await !fixture.runner.drain(until: fixture.clock.now))
        } else {
            fixture.runner.detach(installation: 1)
        }
        #expect(fixture.store.changes.entries.map(\.sequence) == [6, 5, 4, 3, 2])
        #expect(fixture.store.verdicts == Array(repeating: .waiting, count: 5))
    }

    @Test func aPageThatComesAfterItsAgentHasStoppedWaitsAgain() throws {
        let store = SlowStore()
        let runner = DeliveryRunner(
            configuration: DeliveryConfiguration(), store: store, observer: nil, threads: .none(onWork: {}),
            clock: { MonotonicInstant(nanoseconds: 0) })
        runner.attach(
            installation: 1, id: "installation-1", receiver: TestReceiver(handler: ClosureHandler { _, _, _ in }))
        let deliver = try #require(store.pages.withLock { $0.popLast() })
        runner.detach(installation: 1)
        deliver(DeliveryPage(messages: [.push(1)], isComplete: true))
        #expect(store.changes.entries.map(\.sequence) == [1])
        #expect(store.changes.entries.map(\.verdict) == [.waiting])
    }
}

/// A store whose pages come when the test says so.
private final class SlowStore: DeliveryStore {
    let changes = Journal<DeliveryChange>()
    let pages = Locked<[@Sendable (DeliveryPage) -> Void]>([])

    func record(_ changes: [DeliveryChange]) { for change in changes { self.changes.add(change.untimed) } }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        self.pages.withLock { $0.append(deliver) }
    }
}
