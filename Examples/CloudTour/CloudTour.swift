import Glibc
import KiiPushCore

/// Does everything that Documentation/library.md shows, and receives what was sent on the way.
@main
struct CloudTour {
    static func main() async throws {
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            print("CloudTour: set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
            exit(78)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let runtime = try PushRuntime(configuration: settings)
        try await tour(runtime, KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url))
        await runtime.shutdown()
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func tour(_ runtime: PushRuntime, _ app: KiiApp) async throws {
        let agent = makeAgent(runtime, app)
        let registration = try await agent.register()
        guard case .user(let userID) = registration.principal else { return }
        let session = makeSession(agent.client)
        let token = try await session.token().token
        let topic = Topic("dinner", in: .user(userID))
        let list = Bucket("shopping", in: .user(userID))

        try await shareTopic(topic, agent.client, token: token)
        try await agent.client.subscribe(registration.principal, to: .topic(topic), token: token)
        try await showLists(session)
        try await send(dinnerMessage(), to: topic, agent.client, token: token)
        try await askPatiently(agent.client, registration.installationID, token: token)
        try await changeObjects(in: list, registration.principal, agent.client, token: token)
        try await onboardLamp(owner: userID, agent.client, token: token)
        // One message of the topic, and one for each of the four things done to the bucket.
        try await receive(5, with: agent)
        try await decideAboutDeadLetters(runtime)
    }
}
