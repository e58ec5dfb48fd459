import Glibc
import KiiPushCore

/// Runs the code of Documentation/library.md, and receives the messages that it sends.
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
        let topic = Topic("dinner", in: .user(userID))
        let list = Bucket("shopping", in: .user(userID))

        try await shareTopic(topic, session)
        try await session.subscribe(to: .topic(topic))
        try await showLists(session, of: registration.principal)
        try await send(dinnerMessage(), to: topic, session)
        try await askPatiently(session, registration.installationID)
        try await changeObjects(in: list, session)
        try await onboardLamp(owner: userID, session)
        // One message from the topic, and one for each of four changes in the bucket.
        try await receive(5, with: agent)
        try await decideAboutDeadLetters(runtime)
    }
}
