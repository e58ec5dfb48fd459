import Glibc
import KiiPushActivation
import KiiPushCore

/// Appends each push to a file.
///
///     kii-push run --activate ActivatedAgent -- journal.txt
///
/// This command starts the program for a push, and leaves the program running. If a person starts the program, it
/// connects to the broker itself.
struct Journal: RemoteNotificationHandler {
    let path: String

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        let line = Array("\(context.messageID) \(message.rawPayload.text)\n".utf8)
        let file = open(self.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0, write(file, line, line.count) == line.count, fsync(file) == 0 else {
            if file >= 0 { close(file) }
            // The library retries the message.
            completion(.failed)
            return
        }
        close(file)
        completion(.newData)
    }
}

@main
struct ActivatedAgent {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let appID = variable("KII_APP_ID"),
            let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            print("usage: ActivatedAgent FILE, with KII_APP_ID, KII_APP_KEY and KII_BASE_URL set")
            exit(78)
        }
        // The push that started the program, if any. The handler gets this message too.
        if let message = LaunchOptions.current.remoteNotification { print("started for a \(message.kind) message") }
        let lifecycle = AgentLifecycle(launchOptions: .current)
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings),
            configuration: .init(
                app: KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url), account: .pseudoUser),
            handler: Journal(path: CommandLine.arguments[1]),
            lifecycle: lifecycle,
            feed: .activator
        )
        let events = agent.events
        Task {
            for await case .disconnected(let reason, _) in events { complain(reason) }
        }
        let end = await PushService([agent]).run()
        if let error = end.error { complain("\(error)") }
        exit(end.status)
    }

    static func complain(_ text: String) {
        let line = Array("ActivatedAgent: \(text)\n".utf8)
        _ = write(2, line, line.count)
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
