public import KiiPushCore

/// Shows notifications on a Linux desktop, by the notification service of the session: the daemon that GNOME, KDE, dunst,
/// mako and others have for `org.freedesktop.Notifications`.
///
/// ```swift
/// let presenter = DesktopPresenter(configuration: .init(applicationName: "Dinner")) { print($0) }
/// let agent = PushAgent(
///     runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle, presenter: presenter)
/// try await agent.run()
/// presenter.close()
/// ```
///
/// A notification has the alert's title, subtitle and body, a View action unless the payload says `"show-view":false`, the
/// actions of its category, and a sound if the payload names one. Notifications with one `thread-id` stand
/// beside each other. A notification replaces another by ``Configuration/collapseID`` alone; the earlier message is then done
/// without data (`PresentationResponse.expired`). What the user chooses comes back as `PresentationResponse.opened(_:)`.
///
/// Without a session bus or a notification service, alerts are `PresentationOutcome.unavailable`, which has the agent
/// call its handler. When a service ends, its notifications are gone: the next service shows them again. If none comes
/// within 10 s, their messages are delivered again (`PresentationResponse.unavailable`). After a failure the presenter
/// tries nothing for 5 s, unless a service appears.
///
/// May be used from any thread. One presenter can serve several agents.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
public final class DesktopPresenter: NotificationPresenter {
    private let configuration: Configuration
    private let report: @Sendable (DesktopServiceError) -> Void
    private let thread = PollThread<PendingPresentation>(name: "kii-desktop")

    /// Makes a presenter; nothing is connected before the first alert.
    ///
    /// - Parameters:
    ///   - configuration: how notifications look and sound.
    ///   - whenUnavailable: told when notifications cannot be shown any more, once until one was shown again, on a thread of
    ///     the presenter's, or of the agent's where the system gives it none; it must not block.
    public init(
        configuration: Configuration, whenUnavailable: @escaping @Sendable (DesktopServiceError) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.report = whenUnavailable
    }

    deinit { self.thread.stop() }

    /// Shows the alert. Connecting, asking what the service can show, and showing have 5 s each; what has to wait for
    /// others that are to be shown, for a place on the screen or for another service counts as presented at once.
    public func present(_ request: NotificationRequest) -> PresentationOutcome {
        let pending = PendingPresentation(request, collapseID: self.configuration.collapseID(request.message))
        do throws(SystemError) {
            try self.thread.start { [configuration, report] in DesktopLoop(configuration, report: report) }
        } catch {
            self.report(.noResources(reason: "\(error)"))
            return .unavailable
        }
        return self.thread.send(pending) ? pending.wait() : .unavailable
    }

    /// What ``Configuration/alert`` makes of the message.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { self.configuration.alert(message) }

    /// Takes away what is shown, for the end of the program: nobody would be there to be told of a click. The messages rest in
    /// the inbox, and the next process presents them. From now on alerts are `PresentationOutcome.unavailable`.
    ///
    /// Call it when `PushAgent.run()` has returned. Blocks until it is done, 2 s at the most.
    public func close() {
        self.thread.stop()
        self.thread.join(within: .seconds(2))
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
