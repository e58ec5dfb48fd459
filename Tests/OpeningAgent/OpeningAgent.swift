import Glibc
import KiiPushActivation
import KiiPushCore

// A program that an activator starts and that messages control. `{"do":"didEnterBackground"}` calls that function of
// its lifecycle, `{"do":"setBadge"}` sets the number 5, and `{"do":"answerLate"}` answers only after the time is over.
// It appends each call that it gets to a file, in order.
//
// Arguments: the file, and optionally a file for the badge numbers that it reads.

final class Window: RemoteNotificationHandler, UserActionHandler, OpenedNotificationHandler {
    private let lifecycle: AgentLifecycle
    private let file: String
    private let badges: String?
    private let agent = Locked<PushAgent?>(nil)
    private let late = Locked<FetchCompletion?>(nil)

    init(_ lifecycle: AgentLifecycle, file: String, badges: String?) {
        self.lifecycle = lifecycle
        self.file = file
        self.badges = badges
        lifecycle.onForegroundRequest { [weak self] _ in self?.note("willEnterForeground") }
        if lifecycle.launchOptions.remoteNotification != nil { self.note("didFinishLaunching(options)") }
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.note("reception (\(context.state))")
        self.noteBadge("reception")
        switch message.rawPayload["do"]?.string {
        case "setBadge": self.agent.withLock { $0 }?.setBadge(5)
        case "answerLate" where context.attempt == 1: return self.late.withLock { $0 = completion }
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
        self.noteBadge("action")
        if context.isUserOpened { self.lifecycle.didBecomeActive() }
        completion(.newData)
    }

    func openedFromNotification(_ message: ReceivedMessage) {
        self.note("openedFromNotification(\(message.content?.alert?.body ?? ""))")
    }

    func begin(_ agent: PushAgent) {
        self.agent.withLock { $0 = agent }
        self.noteBadge("launch")
    }

    /// Records all later changes of the number.
    func noteBadges(_ numbers: AsyncStream<Int?>) async {
        for await number in numbers { self.append("now \(number ?? 0)", to: self.badges) }
    }

    func answerLate(_ events: AsyncStream<PushEvent>) async {
        for await case .message(let message) in events where message.kind == .handedBack(.timedOut) {
            guard let completion = self.late.withLock({ $0.take() }) else { continue }
            self.note("answered late: \(completion(.newData))")
        }
    }

    private func noteBadge(_ place: String) {
        guard let agent = self.agent.withLock({ $0 }) else { return }
        self.append("\(place) \(agent.badge ?? 0)", to: self.badges)
    }

    private func note(_ call: String) { self.append(call, to: self.file) }

    private func append(_ text: String, to path: String?) {
        guard let path else { return }
        let line = Array("\(text)\n".utf8)
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0, write(file, line, line.count) == line.count else { exit(74) }
        close(file)
    }
}

@main
struct OpeningAgent {
    static func main() async throws {
        let files = CommandLine.arguments.dropFirst()
        guard let file = files.first else { exit(64) }
        let lifecycle = AgentLifecycle(launchOptions: .current)
        let window = Window(lifecycle, file: file, badges: files.dropFirst().first)
        let agent = PushAgent(
            runtime: try PushRuntime(),
            configuration: .init(
                app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser),
            handler: window,
            lifecycle: lifecycle,
            feed: .activator)
        window.begin(agent)
        Task { [events = agent.events] in await window.answerLate(events) }
        Task { [numbers = agent.badges] in await window.noteBadges(numbers) }
        try await agent.run()
    }
}
