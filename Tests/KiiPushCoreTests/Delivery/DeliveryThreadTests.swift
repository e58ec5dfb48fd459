import Glibc
import KiiPushCore
import Testing

/// A system that gives no threads delays delivery, says so once, and loses nothing.
@Suite struct DeliveryThreadTests {
    /// Gives as many threads as it is told.
    private final class ScarceThreads: Sendable {
        private let left: Locked<Int>
        private let waiting = Locked<[@Sendable () -> Void]>([])
        let refusals = Journal<Int32>()
        let pauses = Journal<Duration>()

        init(_ count: Int) { self.left = Locked(count) }

        var threads: DeliveryThreads {
            DeliveryThreads(
                start: { [self] name, body throws(ThreadError) in
                    let isOneLeft = self.left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    if isOneLeft { return try DeliveryThread(name: name, body) }
                    self.refusals.add(EAGAIN)
                    throw ThreadError(code: EAGAIN)
                },
                later: { [self] pause, body in
                    self.waiting.withLock { $0.append(body) }
                    self.pauses.add(pause)
                })
        }

        func end() { self.left.withLock { $0 = 1000 } }

        /// Lets the pauses that are under way be over.
        func passTime() {
            let bodies = self.waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for body in bodies { body() }
        }
    }

    private final class StallObserver: DeliveryObserver {
        let stalls = Journal<String>()

        func deliveryHappened(_ events: [DeliveryEvent]) {}
        func deliveryStalled(_ stall: DeliveryStall) { self.stalls.add(stall.description) }
        func deliveryRecovered() { self.stalls.add("recovered") }
    }

    @Test func aHandlerThatGotNoThreadIsCalledWhenThereIsOne() async {
        let scarce = ScarceThreads(0)
        let observer = StallObserver()
        let called = Journal<Int64>()
        let fixture = RunnerFixture(
            TestReceiver(
                handler: ClosureHandler { _, context, completion in
                    called.add(context.messageID)
                    completion(.newData)
                }), observer: observer, threads: scarce.threads)
        fixture.deliver([.push(1)])
        let stall = "no thread can be started: Resource temporarily unavailable"
        #expect(observer.stalls.entries == [stall])
        #expect(scarce.pauses.entries == [.seconds(1)])
        let before = scarce.refusals.entries.count
        // Nothing is tried before the pause is over, and nothing is told twice.
        fixture.deliver([.push(2)])
        #expect(scarce.refusals.entries.count == before)
        scarce.passTime()
        #expect(scarce.refusals.entries.count > before)
        #expect(scarce.pauses.entries == [.seconds(1), .seconds(1)])
        #expect(observer.stalls.entries == [stall])
        #expect(called.entries == [])
        scarce.end()
        scarce.passTime()
        #expect(await called.first(2) == [1, 2])
        #expect(observer.stalls.entries == [stall, "recovered"])
        #expect(await fixture.store.changes.first(2).map(\.verdict) == [.done(.newData), .done(.newData)])
    }

    @Test func deadlinesComeTrueWithoutATimerThread() async {
        let scarce = ScarceThreads(1)
        let called = Journal<Int64>()
        let held = Locked<[FetchCompletion]>([])
        let fixture = RunnerFixture(
            TestReceiver(
                handler: ClosureHandler { _, context, completion in
                    held.withLock { $0.append(completion) }
                    called.add(context.messageID)
                }), threads: scarce.threads)
        fixture.deliver([.push(1)])
        await called.first(1)
        fixture.clock.advanceUnseen(.seconds(30))
        scarce.passTime()
        #expect(
            await fixture.store.changes.first(1).map(\.verdict) == [.retry(after: .seconds(1), failure: .timedOut)])
        held.withLock { $0 = [] }
    }
}
