import Testing

@testable import KiiPushCore

/// Delivery without threads: the test takes a worker's steps while the clock stands still.
@Suite struct WorkerTests {
    private static func fixture(
        handlers: Int = 4, _ body: @escaping @Sendable (DeliveryContext, FetchCompletion, TestClock) -> Void
    ) async throws -> DeliveryFixture {
        let clock = TestClock()
        let fixture = try await DeliveryFixture(
            TestReceiver(handler: ClosureHandler { _, context, completion in body(context, completion, clock) }),
            clock: clock, threads: .none(onWork: {})
        ) { $0.concurrentHandlers = handlers }
        // Batches as after many quick handlers: a call gets all messages of its source.
        try await fixture.loop.run { [pipeline = fixture.pipeline] in pipeline.value.scheduler.batch = 1024 }
        return fixture
    }

    private static func deliver(_ messages: [StoredMessage], _ fixture: DeliveryFixture) async {
        fixture.deliver(messages)
        await fixture.settle()
    }

    private static func work(_ worker: Worker) {
        guard worker.takeCall() else { return }
        while worker.hasCall, worker.makeCall() == .returned { worker.callReturned() }
    }

    @Test func anAttemptBeginsWhenItsHandlerIsCalled() async throws {
        let deadlines = Journal<MonotonicInstant>()
        let fixture = try await Self.fixture { context, completion, clock in
            deadlines.add(context.deadlineInstant)
            completion(.newData)
            // The handler goes on after its answer.
            clock.advance(.seconds(20))
        }
        await Self.deliver([.push(1), .push(2), .push(3)], fixture)
        let worker = fixture.workers.makeWorker()
        let taken = worker.takeCall()
        #expect(taken)
        var begun: [MonotonicInstant] = []
        while worker.hasCall {
            begun.append(fixture.clock.now)
            #expect(worker.makeCall() == .returned)
            worker.callReturned()
        }
        #expect(deadlines.entries == begun.map { $0 + .seconds(30) })
        #expect(begun.count == 3)
    }

    @Test func anAnswerIsStoredWhileTheNextMessageOfItsCallRuns() async throws {
        let fixture = try await Self.fixture { _, completion, _ in completion(.newData) }
        await Self.deliver([.push(1), .push(2), .push(3)], fixture)
        let worker = fixture.workers.makeWorker()
        _ = worker.takeCall()
        _ = worker.makeCall()
        worker.callReturned()
        #expect(worker.hasCall)
        await fixture.settle()
        #expect(fixture.store.changes.entries == [.change(1, .done(.newData), attempts: 1)])
    }

    @Test func aCallMakesWayForOthersAfterAMillisecond() async throws {
        let order = Journal<Int64>()
        let fixture = try await Self.fixture(handlers: 1) { context, completion, clock in
            order.add(context.messageID)
            completion(.newData)
            if context.messageID < 10 { clock.advance(.milliseconds(2)) }
        }
        await Self.deliver([.push(1), .push(2)], fixture)
        await Self.deliver([.push(11, source: "b"), .push(12, source: "b")], fixture)
        let worker = fixture.workers.makeWorker()
        for _ in 1...3 {
            Self.work(worker)
            await fixture.settle()
        }
        #expect(order.entries == [1, 11, 12, 2])
    }

    @Test func aCallThatIsCutStartsNoFurtherMessage() async throws {
        let fixture = try await Self.fixture { _, completion, _ in completion(.newData) }
        await Self.deliver([.push(1), .push(2), .push(3)], fixture)
        let worker = fixture.workers.makeWorker()
        _ = worker.takeCall()
        fixture.detach()
        await fixture.settle()
        #expect(worker.makeCall() == .returned)
        worker.callReturned()
        #expect(!worker.hasCall)
        await fixture.settle()
        #expect(fixture.store.changes.entries.map(\.sequence) == [3, 2, 1])
    }

    /// A commit may stop halfway. Messages in state `inHand` start before waiting ones, so the last messages must wait
    /// first.
    @Test(arguments: [false, true])
    func whatHasNotStartedWaitsAgainTheLastOneFirst(isWhole: Bool) async throws {
        let fixture = try await Self.fixture { _, completion, _ in completion(.newData) }
        await Self.deliver([.push(1), .push(2), .push(3)], fixture)
        let worker = fixture.workers.makeWorker()
        _ = worker.takeCall()
        await Self.deliver([.push(4), .push(5)], fixture)
        await Self.deliver([.push(6)], fixture)
        if isWhole { fixture.drain() } else { fixture.detach() }
        await fixture.settle()
        #expect(fixture.store.changes.entries.map(\.sequence) == [6, 5, 4, 3, 2])
        #expect(fixture.store.verdicts == Array(repeating: .back(), count: 5))
    }
}
