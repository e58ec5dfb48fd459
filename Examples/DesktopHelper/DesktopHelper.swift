import Glibc
import KiiPushActivation
import KiiPushCore
import KiiPushDesktop

/// Shows alerts on the desktop, and prints the user's choice.
///
/// The program has no window, so it is in the background until the user opens a notification. It requests payloads for
/// APNs, which have alerts, from KiiPushEmulator. A message without an alert is shown by its `msg`.
///
///     kii-push run --activate DesktopHelper --present
///
/// This command shows the alerts itself, and starts the program when the user opens an alert.
struct Kitchen: RemoteNotificationHandler, UserActionHandler, OpenedNotificationHandler {
    let lifecycle: AgentLifecycle

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        say("received", message.content?.alert?.body ?? message.rawPayload.text)
        completion(.newData)
    }

    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    ) {
        say("chosen:", action.identifier ?? "view")
        completion(.newData)
    }

    func openedFromNotification(_ message: ReceivedMessage) {
        say("opened from", message.content?.alert?.body ?? "")
        // A window would open here. This program returns to the background at once.
        self.lifecycle.willResignActive()
        self.lifecycle.didEnterBackground()
    }
}

func makePresenter() -> DesktopPresenter {
    var configuration = DesktopPresenter.Configuration(applicationName: "Kitchen")
    configuration.categories = [
        NotificationCategory(
            identifier: "meal", actions: [NotificationAction(identifier: "coming", title: "I am coming")])
    ]
    configuration.alert = { $0.content?.alert ?? $0["msg"]?.string.map { NotificationAlert(body: $0) } }
    return DesktopPresenter(configuration: configuration) { say("no notifications:", "\($0)") }
}

@main
struct DesktopHelper {
    static func main() async throws {
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            say("DesktopHelper:", "set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
            exit(78)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        var configuration = PushAgent.Configuration(
            app: KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url), account: .pseudoUser,
            subscriptions: [.topic(Topic("meals"))])
        configuration.installationMembers = ["payload": "apns"]
        let launch = LaunchOptions.current
        let isOpened = launch.userAction?.opensProgram == true
        let lifecycle = AgentLifecycle(launchOptions: launch, state: isOpened ? .inactive : .background)
        lifecycle.onForegroundRequest { [weak lifecycle] _ in lifecycle?.didBecomeActive() }
        let presenter = makePresenter()
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings), configuration: configuration,
            handler: Kitchen(lifecycle: lifecycle), lifecycle: lifecycle, presenter: presenter, feed: .activator)
        if isOpened { lifecycle.didBecomeActive() }
        let events = agent.events
        Task {
            for await event in events {
                switch event {
                case .disconnected(let reason, _): say("disconnected:", reason)
                case .subscriptionFailed(_, let reason, _): say("not subscribed:", reason)
                default: break
                }
            }
        }
        let end = await PushService([agent]).run()
        // Removes the notifications, since no process handles clicks now. The next start shows them again.
        presenter.close()
        if let error = end.error { say("DesktopHelper:", "\(error)") }
        exit(end.status)
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Writes at once. `print` buffers output to a pipe or file.
func say(_ words: String...) {
    let line = Array((words.joined(separator: " ") + "\n").utf8)
    _ = write(1, line, line.count)
}
