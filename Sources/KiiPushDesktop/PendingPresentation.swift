import KiiPushCore

/// A notification on its way to the screen, and the call that waits for it to be there.
final class PendingPresentation: Sendable {
    let request: NotificationRequest
    /// It replaces a notification on the screen with the same one.
    let collapseID: String?
    private let outcome = Monitor<PresentationOutcome?>(nil)

    init(_ request: NotificationRequest, collapseID: String?) {
        self.request = request
        self.collapseID = collapseID
    }

    /// Has the call return.
    ///
    /// - Returns: false if it has returned before.
    @discardableResult
    func decide(_ outcome: PresentationOutcome) -> Bool {
        let isFirst = self.outcome.withLock { decided in
            defer { decided = decided ?? outcome }
            return decided == nil
        }
        if isFirst { self.outcome.signalAll() }
        return isFirst
    }

    /// It cannot be shown, or not any more.
    func refuse() { if !self.decide(.unavailable) { self.request.respond(.unavailable) } }

    /// Waits for the decision.
    func wait() -> PresentationOutcome { self.outcome.wait { $0.map { .leave($0) } ?? .sleep(until: nil) } }
}
