/// Passes each message to the handler, the presenter or nobody, by the program's state, as iOS does.
package final class ReceptionReceiver: Receiver {
    package let handler: any NotificationHandler
    private let lifecycle: AgentLifecycle?
    private let desk: PresentationDesk
    private let userActionHandler: (any UserActionHandler)?
    private let openingTarget: Int?
    private let applyBadge: @Sendable (NotificationContent.Badge, DeliveryContext) -> Void

    package init(
        handler: any NotificationHandler, lifecycle: AgentLifecycle?, desk: PresentationDesk,
        applyBadge: @escaping @Sendable (NotificationContent.Badge, DeliveryContext) -> Void
    ) {
        self.handler = handler
        self.lifecycle = lifecycle
        self.desk = desk
        self.applyBadge = applyBadge
        self.userActionHandler = handler as? any UserActionHandler
        let target = handler as? any OpenedNotificationHandler
        self.openingTarget = target.flatMap { target in lifecycle?.add(target) }
    }

    deinit { if let openingTarget { self.lifecycle?.remove(openingTarget) } }

    package func state(of message: QueuedMessage) -> LifecycleState {
        message.openedBy?.opensProgram == true ? .inactive : self.lifecycle?.state ?? .active
    }

    package func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute {
        if let action = context.userAction { return self.route(action, message, context) }
        // A retry goes to the handler. Only the first attempt presents the message or sets the badge.
        guard context.attempt == 1 else { return .handler }
        if let content = message.content { self.applyBadge(content.badge, context) }
        let key = NotificationRequest.Key(installationID: context.installationID, messageID: context.messageID)
        guard context.state == .background, self.lifecycle?.launchOptions.names(key) != true else { return .handler }
        // Kii's MQTT payloads carry no `aps`. A message without `aps` counts as `content-available`.
        let isForHandler = message.content?.isContentAvailable ?? true
        guard let alert = self.desk.alert(for: message), alert.isVisible else {
            return isForHandler ? .handler : .nobody
        }
        return .show(
            { [desk] in
                desk.present(message, alert, key, receivedAt: context.receivedAt, isResting: !isForHandler)
            }, isForHandler: isForHandler)
    }

    private func route(_ action: UserAction, _ message: ReceivedMessage, _ context: DeliveryContext) -> DeliveryRoute {
        // A retry reports the opening too, since the first attempt may have been in an earlier process. The tracker
        // ignores repeats.
        if action.opensProgram, let openingTarget {
            let opening = OpeningTracker.Opening(
                message: message, messageID: context.messageID, installationID: context.installationID,
                target: openingTarget)
            self.lifecycle?.received(opening, isUserOpened: true)
        }
        guard let handler = self.userActionHandler else { return .handler }
        return .invoke { completion in
            handler.handleAction(action, for: message, context: context, completionHandler: completion)
        }
    }
}
