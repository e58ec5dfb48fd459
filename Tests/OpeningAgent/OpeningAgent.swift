import Glibc
import KiiPushCore

// A program that an activator starts, and that a test drives by messages: `{"do":"didEnterBackground"}` has it call that
// function of its lifecycle. It appends each call that it gets to a file, in order.
//
// Argument: the file.

final class Window: RemoteNotificationHandler, UserActionHandler, OpenedNotificationHandler {
    private let lifecycle: AgentLifecycle
    private let file: String

    init(_ lifecycle: AgentLifecycle, file: String) {
        self.lifecycle = lifecycle
        self.file = file
        lifecycle.onForegroundRequest { [weak self] _ in self?.note("willEnterForeground") }
        if lifecycle.launchOptions.remoteNotification != nil { self.note("didFinishLaunching(options)") }
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.note("reception (\(context.state))")
        switch message.rawPayload["do"]?.string {
        case "willEnterForeground": self.lifecycle.willEnterForeground()
        case "didBecomeActive": self.lifecycle.didBecomeActive()
        case "willResignActive": self.lifecycle.willResignActive()
        case "didEnterBackground": self.lifecycle.didEnterBackground()
        default: break
        }
        completion(.newData)
    }

    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    ) {
        self.note("reception (\(context.state), \(action))")
        if context.isUserOpened { self.lifecycle.didBecomeActive() }
        completion(.newData)
    }

    func openedFromNotification(_ message: ReceivedMessage) {
        self.note("openedFromNotification(\(message.content?.alert?.body ?? ""))")
    }

    private func note(_ call: String) {
        let line = Array("\(call)\n".utf8)
        let file = open(self.file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0, write(file, line, line.count) == line.count else { exit(74) }
        close(file)
    }
}

@main
struct OpeningAgent {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { exit(64) }
        let lifecycle = AgentLifecycle(launchOptions: .current)
        let agent = PushAgent(
            runtime: try PushRuntime(),
            configuration: .init(
                app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser),
            handler: Window(lifecycle, file: CommandLine.arguments[1]),
            lifecycle: lifecycle)
        try await agent.run()
    }
}
