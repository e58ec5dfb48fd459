import Glibc
import KiiPushCore

/// Runs the code of Documentation/receiving.md until the user has opened a notification.
@main
struct ReceivingTour {
    static func main() async throws {
        guard let appID = variable("KII_APP_ID"), let appKey = variable("KII_APP_KEY"),
            let url = variable("KII_BASE_URL")
        else {
            print("ReceivingTour: set KII_APP_ID, KII_APP_KEY and KII_BASE_URL")
            exit(78)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = variable("KII_CA_FILE")
        let runtime = try PushRuntime(configuration: settings)
        var configuration = PushAgent.Configuration(
            app: KiiApp(appID: appID, appKey: Secret(appKey), baseURL: url), account: .pseudoUser)
        // Plain TCP is only for a broker on this machine.
        configuration.usesTLS = variable("KII_PLAIN_TCP") == nil
        let lifecycle = startLifecycle(LaunchOptions())
        let agent = makeAgent(runtime, configuration, lifecycle)
        windowWasHidden(lifecycle)
        let events = agent.events
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.run() }
            group.addTask { await showBadge(of: agent, untilOpened: events) }
            do {
                try await group.next()
            } catch {
                print("ReceivingTour: \(error)")
                exit(75)
            }
            group.cancelAll()
        }
        await runtime.shutdown()
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
