import Glibc
import KiiPushCore

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
            appID: variable("KII_APP_ID"), appKey: Secret(variable("KII_APP_KEY")), baseURL: variable("KII_BASE_URL"))
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings),
            configuration: .init(app: app, account: .pseudoUser, subscriptions: [.topic(Topic("alerts"))]),
            handler: PrintingHandler()
        )
        try await agent.run()
    }

    static func variable(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
