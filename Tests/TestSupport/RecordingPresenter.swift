package import KiiPushCore

/// A presenter that records its requests, for a test that plays the user.
package final class RecordingPresenter: NotificationPresenter {
    package let requests: AsyncStream<NotificationRequest>
    private let continuation: AsyncStream<NotificationRequest>.Continuation
    private let outcome: @Sendable (NotificationRequest) -> PresentationOutcome
    private let alert: @Sendable (ReceivedMessage) -> NotificationAlert?

    /// - Parameters:
    ///   - outcome: the result of a request; the closure may also answer the request.
    ///   - alert: the alert that is shown for a message.
    package init(
        outcome: @escaping @Sendable (NotificationRequest) -> PresentationOutcome = { _ in .presented },
        alert: @escaping @Sendable (ReceivedMessage) -> NotificationAlert? = { $0.content?.alert }
    ) {
        (self.requests, self.continuation) = AsyncStream.makeStream()
        self.alert = alert
        self.outcome = outcome
    }

    package func alert(for message: ReceivedMessage) -> NotificationAlert? { self.alert(message) }

    package func present(_ request: NotificationRequest) -> PresentationOutcome {
        let outcome = self.outcome(request)
        self.continuation.yield(request)
        return outcome
    }

    package func next() async -> NotificationRequest? {
        for await request in self.requests { return request }
        return nil
    }
}
