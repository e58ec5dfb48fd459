import KiiPushCore

final class DesktopLoop: PollLoop {
    private enum Standing {
        case ready
        case lost(until: MonotonicInstant)
        case failed(until: MonotonicInstant)
    }

    /// The most attempts for a notification whose service ends each time. The notification may be crashing the service.
    private static let attempts = 3

    private let configuration: DesktopPresenter.Configuration
    private let tell: @Sendable (DesktopServiceError) -> Void
    private var board: DesktopBoard
    private var service: NotificationService?
    private var standing = Standing.ready
    private var hasShown = false
    private var isReported = false
    private var givenUp: [NotificationRequest.Key] = []

    init(
        _ configuration: DesktopPresenter.Configuration, report: @escaping @Sendable (DesktopServiceError) -> Void
    ) {
        self.configuration = configuration
        self.tell = report
        self.board = DesktopBoard(limit: configuration.maximumShown)
    }

    func turn(_ requests: [PendingPresentation], readable: Set<Int32>) -> PollWait? {
        self.accept(requests)
        // Handles signals first: they concern notifications that are already on the screen.
        if self.hear() || self.showNext() { return PollWait(until: .now()) }
        var wait = PollWait()
        if case .lost(let until) = self.standing { wait.deadline = until }
        wait.watch(self.service?.descriptor, writing: self.service?.hasOutput ?? false)
        return wait
    }

    func end(_ unread: [PendingPresentation]) {
        for key in self.board.shown.keys { self.service?.close(key) }
        for pending in self.board.removeWaiting() + unread { pending.decide(.unavailable) }
        self.service = nil
    }

    private func accept(_ requests: [PendingPresentation]) {
        let now = MonotonicInstant.now()
        for pending in requests {
            if self.givenUp.contains(pending.request.key) {
                pending.refuse()
                continue
            }
            switch self.standing {
            case .failed(let until) where now < until: pending.refuse()
            case .failed, .ready:
                // Counts a notification as presented if it must wait for others, so that the agent's thread does not
                // block.
                if !self.board.add(pending) { pending.decide(.presented) }
            case .lost:
                _ = self.board.add(pending)
                pending.decide(.presented)
            }
        }
    }

    // MARK: - Showing

    private func showNext() -> Bool {
        if case .lost(let until) = self.standing {
            if MonotonicInstant.now() < until { return false }
            self.standing = .ready
        }
        guard let item = self.board.takeNext() else { return false }
        do throws(DesktopServiceError) {
            let key = try self.show(item.pending.request)
            self.standing = .ready
            self.isReported = false
            self.hasShown = true
            item.pending.decide(.presented)
            self.board.show(item, as: key)?.pending.request.respond(.expired)
            // Does not pass the old number to `Notify`: a late click on the old notification would then count for the
            // new one.
            _ = self.hear()
            for old in self.board.replaced(by: key) {
                self.end(old, .expired)
                self.service?.close(old)
            }
        } catch {
            self.failed(error, showing: item)
        }
        return true
    }

    private func show(_ request: NotificationRequest) throws(DesktopServiceError) -> DesktopNotificationKey {
        if let service { return try service.show(request) }
        let service = try NotificationService(self.configuration)
        self.service = service
        return try service.show(request)
    }

    private func failed(_ error: DesktopServiceError, showing item: DesktopBoard.Item) {
        switch error {
        case .refused:
            self.report(error)
            item.pending.refuse()
        case .connectionLost, .serviceEnded:
            self.putBack(item)
            if case .connectionLost = error { self.connectionLost(error) } else { self.serviceLost(error) }
            item.pending.decide(.presented)
        case .noBus, .noAnswer, .noService, .noResources:
            self.fail(error)
            item.pending.refuse()
        }
    }

    private func report(_ error: DesktopServiceError) {
        if !self.isReported { self.tell(error) }
        self.isReported = true
    }

    private func fail(_ error: DesktopServiceError) {
        self.report(error)
        self.standing = .failed(until: .now() + self.configuration.failurePause)
        for pending in self.board.removeWaiting() { pending.refuse() }
    }

    // MARK: - Hearing

    private func hear() -> Bool {
        var hasHeard = false
        do throws(DesktopServiceError) {
            while let signal = try self.service?.signal() {
                hasHeard = true
                self.handle(signal)
            }
        } catch {
            self.connectionLost(error)
            return true
        }
        return hasHeard
    }

    private func handle(_ signal: NotificationService.Signal) {
        switch signal {
        case .ownerChanged(let old, let new):
            let isAnyLost = old.map { self.lose(with: $0) } ?? false
            if new != nil { self.standing = .ready } else if isAnyLost { self.serviceLost(.serviceEnded) }
        case .invoked(let key, let action):
            guard let action = DesktopNotification.userAction(key: action) else { return }
            // Some services keep a notification on the screen after a click.
            if self.end(key, .opened(action)) { self.service?.close(key) }
        // Reason 2 of `NotificationClosed`: dismissed by the user.
        case .closed(let key, let reason): self.end(key, reason == 2 ? .dismissed : .expired)
        case .shownLate(let key): self.service?.close(key)
        }
    }

    private func connectionLost(_ error: DesktopServiceError) {
        self.service = nil
        _ = self.lose(with: nil)
        self.serviceLost(error)
    }

    private func lose(with owner: String?) -> Bool {
        let lost = self.board.shown.filter { owner == nil || $0.key.owner == owner }
        for key in lost.keys { if let item = self.board.remove(key) { self.putBack(item) } }
        if !lost.isEmpty { self.decideWaiting() }
        return !lost.isEmpty
    }

    private func putBack(_ item: DesktopBoard.Item) {
        if item.attempts < Self.attempts { return self.board.putBack(item) }
        self.givenUp = self.givenUp.suffix(99) + [item.pending.request.key]
        item.pending.refuse()
    }

    private func decideWaiting() { for item in self.board.waiting { item.pending.decide(.presented) } }

    @discardableResult
    private func end(_ key: DesktopNotificationKey, _ response: PresentationResponse) -> Bool {
        guard let item = self.board.remove(key) else { return false }
        item.pending.request.respond(response)
        return true
    }

    private func serviceLost(_ error: DesktopServiceError) {
        if case .lost = self.standing { return }
        guard self.hasShown else { return self.fail(error) }
        self.hasShown = false
        self.standing = .lost(until: .now() + self.configuration.patience)
        self.decideWaiting()
    }
}
