/// What is to be done with a message that has arrived.
package enum ReceptionRoute: Sendable, Hashable, CaseIterable {
    /// The handler is called, and nothing is presented.
    case handler
    /// The handler is called, and the alert is presented.
    case handlerAndAlert
    /// The alert is presented, and the handler is called when the user opens it; or at once, if it cannot be presented.
    case alert
    /// Nobody is called: there is no data.
    case nobody
    /// The program is started with the message, which then reaches the handler in any case.
    case launch

    /// - Parameters:
    ///   - state: where the message finds the program.
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

    /// "Kii's MQTT payloads carry no `aps`": such a message is for the program, and for the user only if the presenter has
    /// an alert for it.
    package init(of message: ReceivedMessage, alert: NotificationAlert?, in state: LifecycleState) {
        let isContentAvailable = message.content?.isContentAvailable ?? true
        self.init(in: state, isContentAvailable: isContentAvailable, hasAlert: alert?.isVisible ?? false)
    }
}
