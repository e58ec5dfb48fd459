import KiiPushCore

/// What waits for a presenter's thread, and that thread's beginning and end.
final class DesktopMailbox: Sendable {
    private struct State: Sendable {
        var requests: [PendingPresentation] = []
        /// Wakes the thread; `nil` while there is none.
        var bell: Bell?
        var isStopping = false

        mutating func takeRequests() -> [PendingPresentation] {
            defer { self.requests = [] }
            return self.requests
        }
    }

    let configuration: DesktopPresenter.Configuration
    let report: @Sendable (DesktopServiceError) -> Void
    private let state = Locked(State())
    /// Whether the thread has ended, or will never begin.
    private let isOver = Monitor(false)

    init(configuration: DesktopPresenter.Configuration, report: @escaping @Sendable (DesktopServiceError) -> Void) {
        self.configuration = configuration
        self.report = report
    }

    /// Hands a notification to the thread, and waits until it is shown, or is not.
    func present(_ request: NotificationRequest) -> PresentationOutcome {
        let pending = PendingPresentation(request, collapseID: self.configuration.collapseID(request.message))
        do {
            guard let bell = try self.put(pending) else { return .unavailable }
            bell.ring()
            return pending.wait()
        } catch {
            self.report(.noResources(reason: "\(error)"))
            return .unavailable
        }
    }

    /// - Returns: what wakes the thread, which is started for the first request; `nil` if the presenter was closed.
    /// - Throws: `SystemError`; the next request tries again.
    private func put(_ pending: PendingPresentation) throws -> Bell? {
        try self.state.withLock { state in
            guard !state.isStopping else { return nil }
            // Under the lock: calls that come at once start one thread, and `stop()` meets that thread's bell or no thread.
            let bell = try state.bell ?? self.startThread()
            state.bell = bell
            state.requests.append(pending)
            return bell
        }
    }

    private func startThread() throws -> Bell {
        let bell = try Bell()
        try OSThread(name: "kii-desktop") { DesktopThread(mailbox: self, bell: bell).run() }.detach()
        return bell
    }

    /// Has the thread end.
    func stop() {
        let bell = self.state.withLock { state in
            state.isStopping = true
            return state.bell
        }
        if let bell { bell.ring() } else { self.ended() }
    }

    /// Has the thread end, and waits for that.
    func close(within time: Duration) {
        self.stop()
        let deadline = MonotonicInstant.now() + time
        self.isOver.wait { isOver in
            isOver || MonotonicInstant.now() >= deadline ? .leave(()) : .sleep(until: deadline)
        }
    }

    /// For the thread: what came since the last time; `nil` when it is to end.
    func take() -> [PendingPresentation]? { self.state.withLock { $0.isStopping ? nil : $0.takeRequests() } }

    /// The thread shows nothing any more.
    func ended() {
        for request in self.state.withLock({ $0.takeRequests() }) { request.decide(.unavailable) }
        self.isOver.withLock { $0 = true }
        self.isOver.signalAll()
    }
}

/// A notification on its way to the screen, and the call that waits for it to be there.
final class PendingPresentation: Sendable {
    let request: NotificationRequest
    /// The notification replaces another on the screen with the same ID.
    let collapseID: String?
    private let outcome = Monitor<PresentationOutcome?>(nil)

    init(_ request: NotificationRequest, collapseID: String?) {
        self.request = request
        self.collapseID = collapseID
    }

    /// Ends ``wait()``.
    ///
    /// - Returns: false if there was a decision before.
    @discardableResult
    func decide(_ outcome: PresentationOutcome) -> Bool {
        let isFirst = self.outcome.withLock { decided in
            defer { decided = decided ?? outcome }
            return decided == nil
        }
        if isFirst { self.outcome.signalAll() }
        return isFirst
    }

    /// Reports that the notification cannot be shown, or is lost.
    func refuse() { if !self.decide(.unavailable) { self.request.respond(.unavailable) } }

    /// Waits for the decision.
    func wait() -> PresentationOutcome { self.outcome.wait { $0.map { .leave($0) } ?? .sleep(until: nil) } }
}
