/// The action for a message that has arrived.
package enum ReceptionRoute: Sendable, Hashable, CaseIterable {
    /// Call the handler, and present nothing.
    case handler
    /// Call the handler, and present the alert.
    case handlerAndAlert
    /// Present the alert. Call the handler when the user opens it, or at once if the presenter cannot show it.
    case alert
    /// Do neither: the message has no data.
    case nobody
    /// Start the program with the message, which then reaches the handler in any case.
    case launch

    /// - Parameters:
    ///   - state: the program's state at the message's arrival.
    ///   - isContentAvailable: whether the message is for the program itself.
    ///   - hasAlert: whether the message has a text for the user.
    package init(in state: LifecycleState, isContentAvailable: Bool, hasAlert: Bool) {
        switch (state, isContentAvailable, hasAlert) {
        case (.active, _, _), (.inactive, _, _), (.background, true, false): self = .handler
        case (.background, true, true): self = .handlerAndAlert
        case (.background, false, true): self = .alert
        case (.background, false, false): self = .nobody
        case (.notRunning, _, _): self = .launch
        }
    }

    /// "Kii's MQTT payloads carry no `aps`": such a message is for the program. It is for the user too if the presenter
    /// has an alert for it.
    package init(of message: ReceivedMessage, alert: NotificationAlert?, in state: LifecycleState) {
        let isContentAvailable = message.content?.isContentAvailable ?? true
        self.init(in: state, isContentAvailable: isContentAvailable, hasAlert: alert?.isVisible ?? false)
    }
}
