/// The thread of a presenter: the connection to the notification service, and what is shown there.
final class DesktopThread {
    private enum Standing {
        case ready
        /// The service has ended. Until then another one may come.
        case lost(until: MonotonicInstant)
        /// Nothing can be shown. Until then nothing is tried.
        case failed(until: MonotonicInstant)
    }

    private let mailbox: DesktopMailbox
    private let bell: Bell
    private var board: DesktopBoard<PendingPresentation>
    private var service: NotificationService?
    /// `nil` until the service that is there was asked.
    private var capabilities: Set<String>?
    private var standing = Standing.ready
    private var isReported = false

    private var configuration: DesktopPresenter.Configuration { self.mailbox.configuration }

    init(mailbox: DesktopMailbox, bell: Bell) {
        self.mailbox = mailbox
        self.bell = bell
        self.board = DesktopBoard(limit: mailbox.configuration.maximumShown)
    }

    func run() {
        while let requests = self.mailbox.take() {
            for pending in requests { self.board.add(pending, thread: Self.thread(of: pending.request)) }
            // A call reads signals that come before its answer: the descriptor says nothing of them any more.
            repeat { self.showWaiting() } while self.hear()
            // What has no place yet will have one.
            for pending in requests { pending.decide(.presented) }
            var deadline: MonotonicInstant?
            if case .lost(let until) = self.standing { deadline = until }
            _ = self.bell.wait(
                for: self.service?.descriptor, writing: self.service?.hasOutput ?? false, until: deadline)
        }
        for key in self.board.shownKeys { self.service?.close(key) }
        self.service = nil
        self.mailbox.ended()
    }

    private static func thread(of request: NotificationRequest) -> DesktopBoard<PendingPresentation>.Thread? {
        request.threadID.map { .init(installationID: request.id.installationID, threadID: $0) }
    }

    // MARK: - Showing

    private func showWaiting() {
        switch self.standing {
        case .ready: break
        case .lost(let until):
            if MonotonicInstant.now() < until { return }
            self.standing = .ready
        case .failed(let until):
            if MonotonicInstant.now() < until { return self.refuseWaiting() }
            self.standing = .ready
        }
        while let (pending, replaced) = self.board.next {
            do throws(DesktopServiceError) {
                let key = try self.show(pending.request, replacing: replaced)
                self.isReported = false
                pending.decide(.presented)
                let old = self.board.nextIsShown(as: key, replacing: replaced)
                old?.request.respond(.expired)
                // One that was not there any more, or that the service has kept beside it.
                if let replaced, replaced != key { self.service?.close(replaced) }
            } catch {
                self.failed(error)
                guard error.isAboutOneNotification else { return }
                self.board.dropNext()
                pending.refuse()
            }
        }
    }

    private func show(
        _ request: NotificationRequest, replacing replaced: DesktopNotificationKey?
    ) throws(DesktopServiceError) -> DesktopNotificationKey {
        let service: NotificationService
        if let connected = self.service {
            service = connected
        } else {
            service = try NotificationService(self.configuration)
            self.service = service
        }
        let capabilities: Set<String>
        if let known = self.capabilities {
            capabilities = known
        } else {
            capabilities = try service.capabilities()
            self.capabilities = capabilities
        }
        let notification = DesktopNotification(request, self.configuration, capabilities: capabilities)
        return try service.show(notification, replacing: replaced?.id)
    }

    private func failed(_ error: DesktopServiceError) {
        if !self.isReported { self.mailbox.report(error) }
        self.isReported = true
        switch error {
        case .refused: return
        case .connectionLost: return self.connectionLost()
        case .noLibrary, .noBus, .noAnswer, .noService, .noResources: break
        }
        self.standing = .failed(until: .now() + self.configuration.failurePause)
        self.refuseWaiting()
    }

    private func refuseWaiting() {
        for pending in self.board.removeWaiting() { pending.refuse() }
    }

    // MARK: - Hearing

    /// - Returns: whether anything was heard.
    private func hear() -> Bool {
        var hasHeard = false
        do throws(DesktopServiceError) {
            while let signal = try self.service?.signal() {
                hasHeard = true
                self.handle(signal)
            }
        } catch {
            self.connectionLost()
            return true
        }
        return hasHeard
    }

    private func handle(_ signal: NotificationService.Signal) {
        switch signal {
        case .ownerChanged(let owner):
            self.capabilities = nil
            let isAnyLost = self.board.lost(allBut: owner)
            if owner != nil {
                self.standing = .ready
            } else if isAnyLost {
                self.awaitService()
            }
        case .invoked(let key, let action):
            guard let action = DesktopNotification.userAction(key: action), let pending = self.board.remove(key)
            else { return }
            pending.request.respond(.opened(action))
            // Not every service does that itself.
            self.service?.close(key)
        case .closed(let key, let reason):
            // 2: "dismissed by the user".
            self.board.remove(key)?.request.respond(reason == 2 ? .dismissed : .expired)
        }
    }

    private func connectionLost() {
        self.service = nil
        self.capabilities = nil
        _ = self.board.lost(allBut: nil)
        self.awaitService()
    }

    private func awaitService() { self.standing = .lost(until: .now() + self.configuration.patience) }
}
