package import KiiPushCore

/// A presenter that keeps what it was given, for a test that is the user.
package final class RecordingPresenter: NotificationPresenter {
    package let requests: AsyncStream<NotificationRequest>
    private let continuation: AsyncStream<NotificationRequest>.Continuation
    private let outcome: @Sendable (NotificationRequest) -> PresentationOutcome

    /// - Parameter outcome: what becomes of a request; it may answer it as well.
    package init(
        outcome: @escaping @Sendable (NotificationRequest) -> PresentationOutcome = { _ in .presented }
    ) {
        (self.requests, self.continuation) = AsyncStream.makeStream()
        self.outcome = outcome
    }

    package func present(_ request: NotificationRequest) -> PresentationOutcome {
        let outcome = self.outcome(request)
        self.continuation.yield(request)
        return outcome
    }

    /// The next request.
    package func next() async -> NotificationRequest? {
        for await request in self.requests { return request }
        return nil
    }
}
