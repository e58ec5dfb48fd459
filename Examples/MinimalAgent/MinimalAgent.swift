import Glibc
import KiiPushCore

@main
struct MinimalAgent {
    static func main() async throws {
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            say("set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
            exit(78)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings),
            configuration: .init(
                app: KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url),
                account: .pseudoUser,
                subscriptions: [.topic(Topic("alerts"))]
            )
        ) { message, context in
            say("\(message.kind) \(message.rawPayload.text)")
            return .newData
        }
        let events = agent.events
        Task {
            for await event in events {
                if case .disconnected(let reason, _) = event { say(reason) }
                if case .subscriptionFailed(_, let reason, _) = event { say("not subscribed: \(reason)") }
            }
        }
        // Runs until SIGTERM or SIGINT. The status tells systemd whether to restart the program.
        let end = await PushService([agent]).run()
        if let error = end.error { say("\(error)") }
        exit(end.status)
    }
}

/// Writes at once. `print` buffers output to a pipe or file.
func say(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(1, line, line.count)
}

func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
