import Glibc
import KiiPushCore

// An agent whose handler answers and then ends the process, for what no test process survives. It receives from the
// fake broker that the state directory names.
//
// Arguments: state directory, and `first` if messages from 1,000 on are to be in hand when the process ends.

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
        // Two attempts: as many crashes make a dead letter.
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
