import KiiPushCore
import Testing

@testable import kii_push

@Suite(.timeLimit(.minutes(15))) struct RunSessionTests {
    /// What `run` waits for at its end, which is when it is cancelled.
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
        let task = Task { for await _ in gate {} }
        await task.wait(atMost: .milliseconds(1))
        continuation.finish()
        await task.value
    }
}
