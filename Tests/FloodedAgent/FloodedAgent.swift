import Glibc
import KiiPushCore

// An agent in a separate process, so that a test can measure its memory while a broker floods it, and can send it
// signals. It receives from the fake broker in the state directory. It reports when a handler holds a message, and its
// exit status; then it idles.
//
// Arguments: the state directory; `memory` or `file` for the inbox; `answers`, or `holds` if no handler ever answers;
// the limit of the inbox file in bytes, or 0.

struct FloodedHandler: RemoteNotificationHandler {
    let holds: Bool

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        if self.holds { say("holds") }
        while self.holds { pause() }
        completion(.newData)
    }
}

@main
struct FloodedAgent {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let inboxBytes = Int64(arguments[4]) else { exit(64) }
        var settings = PushRuntime.Configuration(stateDirectory: arguments[1])
        settings.inbox = arguments[2] == "memory" ? .memory : .file
        settings.environment.maximumInboxBytes = inboxBytes > 0 ? inboxBytes : nil
        settings.environment.connectTimeout = .seconds(600)
        settings.environment.handlerDeadline = .seconds(600)
        settings.shutdownGrace = .seconds(600)
        // Keeps the connection to a broker that never answers PINGREQ.
        settings.environment.pingTimeout = .seconds(600)
        var configuration = PushAgent.Configuration(
            app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser)
        configuration.usesTLS = false
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings), configuration: configuration,
            handler: FloodedHandler(holds: arguments[3] == "holds"))
        let end = await PushService([agent]).run()
        say("would exit with \(end.status)")
        while true { pause() }
    }
}

func say(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(1, line, line.count)
}
