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
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            print("MinimalAgent: set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
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
            ),
            handler: PrintingHandler()
        )
        let events = agent.events
        Task {
            for await case .disconnected(let reason, _) in events {
                print("MinimalAgent: \(reason)")
                fflush(nil)
            }
        }
        do {
            try await agent.run()
        } catch {
            print("MinimalAgent: \(error)")
            exit(75)
        }
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
