package enum ReceptionRoute: Sendable, Hashable, CaseIterable {
    case handler
    case handlerAndAlert
    /// Present the alert. Call the handler when the user opens the alert, or at once if the presenter cannot show it.
    case alert
    /// Call nobody: the message has no data, and no alert to show.
    case nobody
    /// Start the program with the message, which then reaches the handler with or without an alert.
    case launch

    package init(in state: LifecycleState, isContentAvailable: Bool, hasAlert: Bool) {
        switch (state, isContentAvailable, hasAlert) {
        case (.active, _, _), (.inactive, _, _), (.background, true, false): self = .handler
        case (.background, true, true): self = .handlerAndAlert
        case (.background, false, true): self = .alert
        case (.background, false, false): self = .nobody
        case (.notRunning, _, _): self = .launch
        }
    }

    /// Kii's MQTT payloads carry no `aps`. A message without `aps` counts as `content-available`.
    package init(of message: ReceivedMessage, alert: NotificationAlert?, in state: LifecycleState) {
        let isContentAvailable = message.content?.isContentAvailable ?? true
        self.init(in: state, isContentAvailable: isContentAvailable, hasAlert: alert?.isVisible ?? false)
    }
}
