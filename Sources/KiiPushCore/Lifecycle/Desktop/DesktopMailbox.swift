/// What waits for a presenter's thread, and that thread's beginning and end.
final class DesktopMailbox: Sendable {
    private struct State: Sendable {
        var requests: [PendingPresentation] = []
        /// Wakes the thread; `nil` while there is none.
        var bell: Bell?
        var isStopping = false
    }

    let configuration: DesktopPresenter.Configuration
    let report: @Sendable (DesktopServiceError) -> Void
    private let state = Locked(State())
    /// Whether the thread has ended, or will never begin.
    private let isOver = Monitor(false)

    init(
        configuration: DesktopPresenter.Configuration, report: @escaping @Sendable (DesktopServiceError) -> Void
    ) {
        self.configuration = configuration
        self.report = report
    }

    /// Hands a notification to the thread, and waits until it is shown, or is not.
    func present(_ request: NotificationRequest) -> PresentationOutcome {
        let pending = PendingPresentation(request)
        do throws(DesktopServiceError) {
            guard let bell = try self.put(pending) else { return .unavailable }
            bell.ring()
        } catch {
            self.report(error)
            return .unavailable
        }
        return pending.wait()
    }

    /// - Returns: what wakes the thread, which is started for the first request; `nil` if the presenter was closed.
    private func put(_ pending: PendingPresentation) throws(DesktopServiceError) -> Bell? {
        let made = try self.makeBell()
        let (bell, isNew) = self.state.withLock { state in
            // Without any, another call's has failed in between.
            guard !state.isStopping, state.bell != nil || made != nil else { return (Bell?.none, false) }
            let isNew = state.bell == nil
            if isNew { state.bell = made }
            state.requests.append(pending)
            return (state.bell, isNew)
        }
        guard let bell, isNew else { return bell }
        do {
            try OSThread(name: "kii-desktop") { [self] in DesktopThread(mailbox: self, bell: bell).run() }
                .detach()
        } catch {
            // The next request tries again.
            let (requests, isStopping) = self.state.withLock { state in
                state.bell = nil
                defer { state.requests = [] }
                return (state.requests, state.isStopping)
            }
            for request in requests { request.refuse() }
            if isStopping { self.ended() }
            throw .noResources(reason: "\(error)")
        }
        return bell
    }

    private func makeBell() throws(DesktopServiceError) -> Bell? {
        guard self.state.withLock({ $0.bell == nil && !$0.isStopping }) else { return nil }
        do {
            return try Bell(for: "the notification service")
        } catch {
            throw .noResources(reason: "\(error)")
        }
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

    // MARK: - On the thread

    /// What came since the last time; `nil` when the thread is to end.
    func take() -> [PendingPresentation]? {
        self.state.withLock { state in
            guard !state.isStopping else { return nil }
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// The thread shows nothing any more.
    func ended() {
        let requests = self.state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
        for request in requests { request.decide(.unavailable) }
        self.isOver.withLock { $0 = true }
        self.isOver.signalAll()
    }
}
