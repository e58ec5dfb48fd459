import Glibc
import KiiPushCore

// An agent for the fault tests: it appends the number in each message to a file, once before it works on the message
// and once after, each line written through to the disk, so that a test can kill it at any moment and count.
//
// Arguments: state directory, log file, base URL, app ID, CA file, `file` or `memory`. The app key comes from
// KII_APP_KEY.

struct CountingHandler: RemoteNotificationHandler {
    let log: Int32

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        let number = message.rawPayload["n"]?.int64 ?? -1
        self.write("began \(number) \(context.messageID)\n")
        // The work in whose middle the process is killed.
        usleep(useconds_t.random(in: 500...3000))
        self.write("ended \(number) \(context.messageID)\n")
        completion(.newData)
    }

    private func write(_ line: String) {
        let bytes = Array(line.utf8)
        guard Glibc.write(self.log, bytes, bytes.count) == bytes.count, fdatasync(self.log) == 0 else { exit(74) }
    }
}

@main
struct CountingAgent {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7 else { exit(64) }
        let log = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0, let key = getenv("KII_APP_KEY") else { exit(66) }
        var settings = PushRuntime.Configuration(stateDirectory: arguments[1])
        settings.certificateAuthorityFile = arguments[5]
        settings.inbox = arguments[6] == "memory" ? .memory : .file
        let app = KiiApp(appID: arguments[4], appKey: Secret(String(cString: key)), baseURL: arguments[3])
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings),
            configuration: .init(app: app, account: .pseudoUser),
            handler: CountingHandler(log: log)
        )
        try await agent.run()
    }
}
