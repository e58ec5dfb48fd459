import KiiPushActivation
import KiiPushCore
import Synchronization

final class AppDelegate: RemoteNotificationHandler, OpenedNotificationHandler {
    private let handled = Mutex<Set<Int64>>([])

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        // A message may come twice, with the same ID.
        let isNew = self.handled.withLock { $0.insert(context.messageID).inserted }
        if isNew { print("handling", message["msg"]?.string ?? "", "opened:", context.isUserOpened) }
        completion(isNew ? .newData : .noData)
    }

    func openedFromNotification(_ message: ReceivedMessage) {
        print("showing the view of", message["msg"]?.string ?? "")
    }
}

func startApp(_ runtime: PushRuntime, _ configuration: PushAgent.Configuration) -> (PushAgent, AgentLifecycle) {
    // application(_:didFinishLaunchingWithOptions:). The options have the notification that opened the program.
    let lifecycle = AgentLifecycle(launchOptions: .current)
    let agent = PushAgent(
        runtime: runtime, configuration: configuration, handler: AppDelegate(), lifecycle: lifecycle,
        feed: .activator)
    return (agent, lifecycle)
}

func windowIsShown(_ lifecycle: AgentLifecycle) {
    lifecycle.willEnterForeground()
    lifecycle.didBecomeActive()
}
