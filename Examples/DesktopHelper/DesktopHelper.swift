import Glibc
import KiiPushActivation
import KiiPushCore
import KiiPushDesktop

/// Presents alerts on the desktop, and reacts to what the user chooses.
///
/// It has no window of its own, and so is in the background until the user opens a notification. Alerts come from
/// KiiPushEmulator, which is asked for payloads as Apple's devices get them; a message without one is shown by its `msg`.
///
///     kii-push run --activate DesktopHelper --present
///
/// shows the alerts in its place, and starts it when the user opens one.
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
        // Here a window would be in front. It is closed at once.
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
        // Nobody would be there to be told of a click: what is shown is taken away, and shown again by the next start.
        presenter.close()
        if let error = end.error { say("DesktopHelper:", "\(error)") }
        exit(end.status)
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Written at once, where `print` keeps what goes into a pipe or file until there is more of it.
func say(_ words: String...) {
    let line = Array((words.joined(separator: " ") + "\n").utf8)
    _ = write(1, line, line.count)
}
