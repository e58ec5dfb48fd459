import Glibc
import KiiPushCore

// An agent whose handler answers and then kills its own process, which no test process would survive. It receives from
// the fake broker in the state directory.
//
// Arguments: the state directory, and `first` if other messages shall still be in their handlers at that moment.

struct CrashingHandler: RemoteNotificationHandler {
    let holdsOthers: Bool

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        if message.rawPayload["n"]?.int64 == 1 {
            completion(.newData)
            kill(getpid(), SIGKILL)
        }
        while self.holdsOthers { pause() }
        completion(.newData)
    }
}

@main
struct MisusingAgent {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(64) }
        var settings = PushRuntime.Configuration(stateDirectory: arguments[1])
        // Two attempts, so two crashes make a dead letter.
        settings.retryDelays = [.milliseconds(1)]
        var configuration = PushAgent.Configuration(
            app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser)
        configuration.usesTLS = false
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings), configuration: configuration,
            handler: CrashingHandler(holdsOthers: arguments[2] == "first"))
        try await agent.run()
    }
}
