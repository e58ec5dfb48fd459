import Testing

@testable import KiiPushCore

@Suite struct PendingSubscriptionTests {
    private struct OddError: Error {}

    private static let start = MonotonicInstant(nanoseconds: 0)
    private static let operation = KiiOperation(method: .post, path: "/apps/a")

    @Test(
        arguments: [
            OddError(), PushAgentError.alreadyRunning, TransportError(.invalidConfiguration, detail: "d"),
            KiiError(operation: Self.operation, status: 404, errorCode: KiiErrorCode.topicNotFound),
        ] as [any Error])
    func nothingEndsTheAttempts(error: any Error) {
        var pending = PendingSubscription(
            .topic(Topic("t")), reconnect: .init(), retry: PendingSubscription.pauses, now: Self.start)
        #expect(pending.due == Self.start)
        var now = Self.start
        for longest in [5, 10, 20, 40, 80, 160, 300, 300, 300] {
            let (reason, delay) = pending.failed(error, now: now)
            #expect(reason == "\(error)")
            #expect(Duration.seconds(longest) / 2 <= delay && delay <= .seconds(longest))
            #expect(pending.due == now + delay)
            now = pending.due
        }
    }

    @Test func whatMayPassByItselfIsTriedAsAConnectionIs() {
        var pending = PendingSubscription(
            .topic(Topic("t")), reconnect: .init(), retry: PendingSubscription.pauses, now: Self.start)
        let busy = KiiError(operation: Self.operation, status: 503, retryAfter: .seconds(7))
        let delay = pending.failed(busy, now: Self.start).delay
        #expect(.seconds(7) <= delay && delay < .milliseconds(7700))
    }
}
