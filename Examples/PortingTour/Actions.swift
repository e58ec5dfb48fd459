import KiiPushCore
import KiiPushDesktop

func makePresenter() -> DesktopPresenter {
    var configuration = DesktopPresenter.Configuration(applicationName: "Dinner")
    configuration.categories = [
        NotificationCategory(
            identifier: "invitation",
            actions: [
                NotificationAction(identifier: "accept", title: "Accept"),
                // UIUserNotificationActivationModeBackground
                NotificationAction(identifier: "decline", title: "Decline", isForeground: false),
            ])
    ]
    return DesktopPresenter(configuration: configuration)
}

extension AppDelegate: UserActionHandler {
    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    ) {
        // Also called for a tap on the notification itself.
        print("the user chose", action.identifier ?? "to open it")
        self.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
    }
}

@MainActor
final class Icon {
    private(set) var number: Int?

    func show(_ number: Int) { self.number = number }
}

func showBadge(of agent: PushAgent, on icon: Icon) async {
    // applicationIconBadgeNumber: the current number, then each change.
    for await number in agent.badges { await icon.show(number ?? 0) }
}
