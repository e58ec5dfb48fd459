import Glibc
import KiiPushCore

// An agent for the fault tests: it appends the number in each message to a file, once before it works on the message
// and once after, each line written through to the disk, so that a test can kill it at any moment and count.
//
// Arguments are NAME=VALUE, see `Options`. The app key comes from KII_APP_KEY, the work from WORK_MIN_US and WORK_MAX_US.

@main
struct CountingAgent {
    static func main() async throws {
        guard let options = Options(CommandLine.arguments.dropFirst()), let log = AppendedFile(options["log"]),
            let key = getenv("KII_APP_KEY")
        else { exit(64) }
        var settings = PushRuntime.Configuration(stateDirectory: options["state"])
        settings.certificateAuthorityFile = options["ca"]
        settings.inbox = options["inbox"] == "memory" ? .memory : .file
        settings.maximumInboxBytes = options.number("inbox-bytes").map(Int64.init)
        if let calendar = options.text("calendar") { Calendar.follow(calendar) }
        settings.concurrentHandlers = options.number("handlers") ?? 4
        let app = KiiApp(appID: options["app"], appKey: Secret(String(cString: key)), baseURL: options["url"])
        var configuration = PushAgent.Configuration(app: app, account: .pseudoUser)
        configuration.usesTLS = options.number("tls") == 1
        configuration.keepAlive = .seconds(options.number("keepalive") ?? 60)
        // Back at once: with the delays that are kind to a cloud, forty cuts would take an hour.
        var reconnect = ReconnectPolicy.Configuration()
        reconnect.firstDelayAfterPeerLoss = .milliseconds(20)
        reconnect.baseDelay = .milliseconds(1)
        reconnect.maximumDelay = .milliseconds(20)
        // A proxy that cuts again and again looks like another receiver.
        reconnect.firstDisputedDelay = .milliseconds(1)
        reconnect.maximumDisputedDelay = .milliseconds(20)
        let agent = PushAgent(
            runtime: try PushRuntime(configuration: settings),
            configuration: configuration,
            handler: CountingHandler(log: log, options: options),
            reconnect: reconnect
        )
        guard let events = AppendedFile(options["events"]) else { exit(66) }
        let stream = agent.events
        async let telling: Void = tell(stream, to: events)
        try await agent.run()
        await telling
    }

    /// Writes down what happened to the agent itself.
    private static func tell(_ events: AsyncStream<PushEvent>, to file: AppendedFile) async {
        for await event in events {
            switch event {
            case .message: break
            case .connected: file.append("connected\n")
            case .disconnected(let reason, _): file.append("disconnected \(reason)\n")
            case .storageFailed(let reason): file.append("storageFailed \(reason)\n")
            default: file.append("\(event)".prefix { $0 != "(" } + "\n")
            }
        }
    }
}
