import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct ClockObserverTests {
    @Test func aJumpIsToldOnceAtTheBeginningOfATurn() async throws {
        let asleep = Locked(Duration.zero)
        let loop = try EventLoop(
            configuration: .init(readClocks: {
                let time = asleep.withLock { $0 }
                return ClockReading(monotonic: .zero, sinceBoot: time, calendar: time)
            }))
        let (jumps, told) = AsyncStream.makeStream(of: ClockJump.self)
        try await loop.run { loop.setClockObserver { told.yield($0) } }
        asleep.withLock { $0 = .seconds(60) }
        // The first turn after a wait reports the jump.
        let nudge = Task { while !Task.isCancelled { try await loop.run {} } }
        var iterator = jumps.makeAsyncIterator()
        #expect(await iterator.next() == ClockJump(slept: .seconds(60)))
        asleep.withLock { $0 = .seconds(64) }
        #expect(await iterator.next() == ClockJump(slept: .seconds(4)))
        nudge.cancel()
        loop.shutdown()
        told.finish()
        #expect(await iterator.next() == nil)
    }

    /// The kernel must wake a loop that waits for long when the calendar is set. A test cannot set the calendar or
    /// suspend the machine, so it checks the loop's timer in the kernel.
    @Test func theKernelIsAskedToWakeTheLoopWhenTheCalendarIsSet() async throws {
        func alarms() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").count { name in
                // Other tests may close some of these descriptors meanwhile.
                let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
                // CLOCK_REALTIME; TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET.
                return text.contains("clockid: 0\n") && text.contains("settime flags: 03\n")
            }
        }
        let loop = try EventLoop.patient()
        #expect(try alarms() >= 1)
        loop.shutdown()
    }
}
