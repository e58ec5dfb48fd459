import Glibc
import KiiPushCore

// An agent that prints what it receives, for the app that the environment names: KII_APP_ID, KII_APP_KEY, KII_BASE_URL,
// and KII_CA_FILE where the server's certificate is signed by an authority of one's own.

struct PrintingHandler: RemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        print(message.kind, message.rawPayload.text)
        fflush(nil)
        completion(.newData)
    }
}

@main
struct MinimalAgent {
    static func main() async throws {
        let app = KiiApp(
            appID: environment("KII_APP_ID"),
            appKey: Secret(environment("KII_APP_KEY")),
            baseURL: environment("KII_BASE_URL")
        )
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = getenv("KII_CA_FILE").map { String(cString: $0) }
        let runtime = try PushRuntime(configuration: settings)
        let agent = PushAgent(
            runtime: runtime,
            configuration: .init(app: app, account: .pseudoUser, subscriptions: [.topic(Topic("alerts"))]),
            handler: PrintingHandler()
        )
        try await agent.run()
    }

    static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
