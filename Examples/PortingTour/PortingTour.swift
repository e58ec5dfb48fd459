import Glibc
import KiiPushCore

/// Does what Documentation/porting.md shows, and receives one message.
@main
struct PortingTour {
    static func main() async throws {
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            print("PortingTour: set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
            exit(78)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let runtime = try PushRuntime(configuration: settings)
        try await tour(runtime, KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url))
        await runtime.shutdown()
    }

    private static func tour(_ runtime: PushRuntime, _ app: KiiApp) async throws {
        let account = KiiAccount.user(name: "porter", password: "not a secret", createsIfMissing: true)
        let (agent, lifecycle) = startApp(runtime, .init(app: app, account: account))
        let registration = try await register(agent)
        windowIsShown(lifecycle)
        let endpoint = try await setUpByHand(agent.client, name: "porter", password: "not a secret")
        print("the same installation:", endpoint.installationID == registration.installationID)

        try await agent.session().send(
            PushMessage(data: ["msg": "Dinner"]), to: .topic(Topic("dinner", in: .user("me"))))
        let events = agent.events
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.run() }
            group.addTask {
                for await case .message(let event) in events {
                    if case .done = event.kind { return }
                }
            }
            try await group.next()
            group.cancelAll()
        }
        let list = MessageList()
        let handler = ListHandler(list: list)
        print("a list for", type(of: handler), "on the main actor:", await list.texts.count)
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
