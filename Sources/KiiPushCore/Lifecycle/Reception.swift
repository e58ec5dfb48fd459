/// What decides about a message that has arrived: where the program stands, and two keys of the payload.
package struct Reception: Sendable, Hashable {
    /// Where the message finds the program.
    package var state: LifecycleState
    /// Whether the message is for the program itself: `content-available`, or a payload without `aps`.
    package var isContentAvailable: Bool
    /// Whether the message has a text for the user.
    package var hasAlert: Bool

    package init(state: LifecycleState, isContentAvailable: Bool, hasAlert: Bool) {
        self.state = state
        self.isContentAvailable = isContentAvailable
        self.hasAlert = hasAlert
    }

    /// "Kii's MQTT payloads carry no `aps`": such a message is for the program, and for the user only if the presenter has
    /// an alert for it.
    package init(of message: ReceivedMessage, alert: NotificationAlert?, in state: LifecycleState) {
        self.init(
            state: state,
            isContentAvailable: message.content?.isContentAvailable ?? true,
            hasAlert: alert?.isVisible ?? false
        )
    }

    /// What is to be done with the message.
    package var route: ReceptionRoute {
        switch self.state {
        case .active, .inactive: .handler
        case .notRunning: .launch
        case .background:
            switch (self.isContentAvailable, self.hasAlert) {
            case (true, true): .handlerAndAlert
            case (true, false): .handler
            case (false, true): .alert
            case (false, false): .nobody
            }
        }
    }
}

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
}
