import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct RunSessionTests {
    /// `run` waits like this at its end, when its task is already cancelled.
    @Test func whoIsCancelledStillWaits() async {
        let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
        let isOver = Locked(false)
        let task = Task {
            for await _ in gate {}
            isOver.withLock { $0 = true }
        }
        let waiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await task.wait(atMost: .seconds(600))
            return isOver.withLock { $0 }
        }
        continuation.finish()
        #expect(await waiting.value)
    }

    @Test func whatDoesNotEndIsNotWaitedForForLong() async {
        let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
        let isOver = Locked(false)
        let task = Task {
            for await _ in gate {}
            isOver.withLock { $0 = true }
        }
        let begin = ContinuousClock.now
        await task.wait(atMost: .milliseconds(50))
        #expect(begin.duration(to: .now) >= .milliseconds(50))
        #expect(!isOver.withLock { $0 })
        continuation.finish()
        await task.value
    }
}
