import Glibc
import Testing

@testable import KiiPushCore

/// If the system cannot start a thread, delivery waits, reports the stall once, and loses no message.
@Suite struct DeliveryThreadTests {
    private final class ScarceThreads: Sendable {
        private let left: Locked<Int>
        let refusals = Journal<Int32>()

        init(_ count: Int) { self.left = Locked(count) }

        var threads: DeliveryThreads {
            DeliveryThreads { [self] name, body throws(SystemError) in
                let isOneLeft = self.left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if isOneLeft { return try OSThread(name: name, body) }
                self.refusals.add(EAGAIN)
                throw SystemError(noThread: EAGAIN)
            }
        }

        func end() { self.left.withLock { $0 = 1000 } }
    }

    @Test func aHandlerThatGotNoThreadIsCalledWhenThereIsOne() async throws {
        let scarce = ScarceThreads(0)
        let called = Journal<Int64>()
        let fixture = try await DeliveryFixture(
            TestReceiver(
                handler: ClosureHandler { _, context, completion in
                    called.add(context.messageID)
                    completion(.newData)
                }), threads: scarce.threads)
        fixture.deliver([.push(1)])
        await fixture.settle()
        let stall = "no thread can be started: Resource temporarily unavailable"
        #expect(fixture.listener.stalls.entries == [stall])
        #expect(scarce.refusals.entries == [EAGAIN])
        // Delivery does not retry before the pause ends, and reports nothing twice.
        fixture.deliver([.push(2)])
        await fixture.settle()
        await fixture.advance(.milliseconds(900))
        #expect(scarce.refusals.entries.count == 1)
        await fixture.advance(.milliseconds(100))
        #expect(scarce.refusals.entries.count == 2)
        #expect(fixture.listener.stalls.entries == [stall])
        #expect(called.entries == [])
        scarce.end()
        await fixture.advance(.seconds(1))
        #expect(await called.first(2) == [1, 2])
        #expect(await fixture.listener.stalls.first(2) == [stall, "recovered"])
        #expect(await fixture.store.changes.first(2).map(\.verdict) == [.done(.newData), .done(.newData)])
    }

    @Test func deadlinesComeTrueWithoutFurtherThreads() async throws {
        let scarce = ScarceThreads(1)
        let called = Journal<Int64>()
        let held = Locked<[FetchCompletion]>([])
        let fixture = try await DeliveryFixture(
            TestReceiver(
                handler: ClosureHandler { _, context, completion in
                    held.withLock { $0.append(completion) }
                    called.add(context.messageID)
                }), threads: scarce.threads)
        fixture.deliver([.push(1)])
        await called.first(1)
        await fixture.advance(.seconds(30))
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .timedOut)])
        held.withLock { $0 = [] }
    }
}
