public import KiiPushCore

/// Shows alerts on a Linux desktop, through the session's notification service: the daemon behind
/// `org.freedesktop.Notifications` of GNOME, KDE, dunst, mako and others.
///
/// ```swift
/// let presenter = DesktopPresenter(configuration: .init(applicationName: "Dinner")) { print($0) }
/// let agent = PushAgent(
///     runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle, presenter: presenter)
/// try await agent.run()
/// presenter.close()
/// ```
///
/// A notification has the alert's title, subtitle and body, and the actions of its category. It has a View action
/// unless the payload says `"show-view":false`, and a sound if the payload names one. Notifications with the same
/// `thread-id` are shown side by side. A notification replaces another only by ``Configuration/collapseID``; the
/// replaced message then ends as `PresentationResponse.expired`, without data. The user's choice arrives as
/// `PresentationResponse.opened(_:)`.
///
/// Without a session bus or a notification service, the outcome is `PresentationOutcome.unavailable`, and the agent
/// calls its handler. When a service ends, its notifications disappear, and the next service shows them again. If none
/// appears within 10 s, the agent delivers their messages again (`PresentationResponse.unavailable`). After a failure
/// the presenter waits 5 s before it tries again, unless a service appears earlier.
///
/// Safe to use from any thread. One presenter can serve several agents.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
public final class DesktopPresenter: NotificationPresenter {
    private let configuration: Configuration
    private let report: @Sendable (DesktopServiceError) -> Void
    private let thread = PollThread<PendingPresentation>(name: "kii-desktop")

    /// Creates a presenter. It connects at the first alert.
    ///
    /// - Parameters:
    ///   - configuration: the look, sound and actions of notifications.
    ///   - whenUnavailable: called when notifications can no longer be shown, and again only after one was shown. It
    ///     runs on the presenter's thread, or on the agent's if the system gives the presenter none, and must not
    ///     block.
    public init(
        configuration: Configuration, whenUnavailable: @escaping @Sendable (DesktopServiceError) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.report = whenUnavailable
    }

    deinit { self.thread.stop() }

    /// Shows the alert. Connecting, the query of the service's capabilities, and showing may take 5 s each. An alert
    /// that must wait for other alerts, for a place on the screen or for a new service counts as presented at once.
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

    /// The result of ``Configuration/alert`` for the message.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { self.configuration.alert(message) }

    /// Removes the notifications from the screen, for the end of the program, which could not react to a click any
    /// more. Their messages rest in the inbox, and the next process presents them. Further alerts are
    /// `PresentationOutcome.unavailable`.
    ///
    /// Call it after `PushAgent.run()` has returned. It blocks for 2 s at most.
    public func close() {
        self.thread.stop()
        self.thread.join(within: .seconds(2))
    }
}

/// A notification to be shown, and the call that waits for its outcome.
final class PendingPresentation: Sendable {
    let request: NotificationRequest
    /// The notification replaces one on the screen with the same ID.
    let collapseID: String?
    private let outcome = Monitor<PresentationOutcome?>(nil)

    init(_ request: NotificationRequest, collapseID: String?) {
        self.request = request
        self.collapseID = collapseID
    }

    /// Decides the outcome, which ends ``wait()``.
    ///
    /// - Returns: `false` if there was an earlier decision.
    @discardableResult
    func decide(_ outcome: PresentationOutcome) -> Bool {
        let isFirst = self.outcome.withLock { decided in
            defer { decided = decided ?? outcome }
            return decided == nil
        }
        if isFirst { self.outcome.signalAll() }
        return isFirst
    }

    /// Reports that the notification cannot be shown or was lost.
    func refuse() { if !self.decide(.unavailable) { self.request.respond(.unavailable) } }

    func wait() -> PresentationOutcome { self.outcome.wait { $0.map { .leave($0) } ?? .sleep(until: nil) } }
}
