public import KiiPushCore

/// Shows alerts on a Linux desktop, through the notification service of the session. The service is the program behind
/// `org.freedesktop.Notifications`: GNOME, KDE, dunst, mako and others.
///
/// ```swift
/// let presenter = DesktopPresenter(configuration: .init(applicationName: "Dinner")) { print($0) }
/// let agent = PushAgent(
///     runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle, presenter: presenter)
/// try await agent.run()
/// presenter.close()
/// ```
///
/// A notification has the alert's title, subtitle and body. If the service supports actions, it has the actions of its
/// category, and a View action unless the payload says `"show-view":false`. It has a sound if the payload names a sound
/// and the message was not presented before. The user's choice arrives as `PresentationResponse.opened(_:)`. A
/// notification replaces another only by ``Configuration/collapseID``.
///
/// Without a session bus or a notification service, the outcome is `PresentationOutcome.unavailable`, and the agent
/// calls its handler. If a service ends, its notifications disappear, and a new service shows them again, each at most
/// twice. If no service appears within 10 s, the agent delivers the messages again
/// (`PresentationResponse.unavailable`). If the presenter reaches no service, all alerts are unavailable for the next
/// 5 s, or until a new service appears.
///
/// Safe to use from any thread. One presenter can serve several agents.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
public final class DesktopPresenter: NotificationPresenter {
    private let configuration: Configuration
    private let report: @Sendable (DesktopServiceError) -> Void
    private let thread = PollThread<PendingPresentation>(name: "kii-desktop")

    /// Creates a presenter. It connects to the bus at the first alert.
    ///
    /// - Parameters:
    ///   - configuration: the look, sound and actions of notifications.
    ///   - whenUnavailable: called when a notification cannot be shown, and again only after another was shown. It must
    ///     not block. It runs on the presenter's thread. If the system cannot create that thread, it runs on the
    ///     agent's thread, for each alert.
    public init(
        configuration: Configuration, whenUnavailable: @escaping @Sendable (DesktopServiceError) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.report = whenUnavailable
    }

    deinit { self.thread.stop() }

    /// Shows the alert and returns the outcome. Connecting, the query of the service's capabilities, and showing may
    /// take 5 s each. If the alert must wait for other alerts or for a new service, the method returns
    /// `PresentationOutcome.presented` at once.
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

    /// Returns the result of ``Configuration/alert`` for the message.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { self.configuration.alert(message) }

    /// Removes the notifications from the screen. Their messages stay in the inbox, and are presented when the program
    /// runs again. Every later alert is `PresentationOutcome.unavailable`.
    ///
    /// Call it after `PushAgent.run()` has returned. It blocks for 2 s at most.
    public func close() {
        self.thread.stop()
        self.thread.join(within: .seconds(2))
    }
}

final class PendingPresentation: Sendable {
    let request: NotificationRequest
    let collapseID: String?
    private let outcome = Monitor<PresentationOutcome?>(nil)

    init(_ request: NotificationRequest, collapseID: String?) {
        self.request = request
        self.collapseID = collapseID
    }

    /// Only the first call has an effect. It returns `true`.
    @discardableResult
    func decide(_ outcome: PresentationOutcome) -> Bool {
        let isFirst = self.outcome.withLock { decided in
            defer { decided = decided ?? outcome }
            return decided == nil
        }
        if isFirst { self.outcome.signalAll() }
        return isFirst
    }

    /// Reports that the notification cannot be shown, or that it was lost after it counted as presented.
    func refuse() { if !self.decide(.unavailable) { self.request.respond(.unavailable) } }

    func wait() -> PresentationOutcome { self.outcome.wait { $0.map { .leave($0) } ?? .sleep(until: nil) } }
}
