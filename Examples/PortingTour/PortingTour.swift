import Glibc
import KiiPushCore
import KiiPushDesktop

/// Runs the code of Documentation/porting.md, and receives one message.
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

        let session = try agent.session()
        let topic = Topic("dinner", in: .user("me"))
        try await sendMessage("Dinner", to: topic, as: session)
        let icon = Icon()
        let badge = Task { await showBadge(of: agent, on: icon) }
        while await icon.number == nil { await Task.yield() }
        badge.cancel()
        print("badge", await icon.number ?? -1)
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

        let stored = try await session.createObject(["dish": "soup"], in: Bucket("menu", in: .user("me")))
        // The payload for subscribers of the bucket.
        let payload = """
            {"bucketID":"menu","objectID":"\(stored.reference.id)","objectScopeType":"APP_AND_USER",\
            "objectScopeUserID":"\(registration.principal.id)"}
            """
        let changed = try ReceivedMessage(payload: Array(payload.utf8))
        print("fetched:", try await fetchObject(of: changed, as: session)?["dish"]?.string ?? "nothing")
        print("unsubscribed:", try await unsubscribe(from: topic, as: session))
        try await logOut(agent)
        makePresenter().close()
        print("logged out")
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
