import Dispatch
import Glibc
import KiiPushCore

// An agent for the fault tests. It appends each message's number to a file before and after its work, and flushes each
// line to the disk. So a test can kill the agent at any moment and count.
//
// Arguments are NAME=VALUE, see `Options`. The app key comes from KII_APP_KEY, the work from WORK_MIN_US and
// WORK_MAX_US.

@main
struct CountingAgent {
    static func main() async throws {
        guard let options = Options(CommandLine.arguments.dropFirst()), let log = AppendedFile(options["log"]),
            let key = getenv("KII_APP_KEY")
        else { exit(64) }
        var settings = PushRuntime.Configuration(stateDirectory: options["state"])
        settings.certificateAuthorityFile = options["ca"]
        settings.inbox = options["inbox"] == "memory" ? .memory : .file
        settings.environment.flushesCommits = options.number("flushes") != 0
        if let calendar = options.text("calendar") { Calendar.follow(calendar) }
        settings.concurrentHandlers = options.number("handlers") ?? 4
        let app = KiiApp(appID: options["app"], appKey: Secret(String(cString: key)), baseURL: options["url"])
        var configuration = PushAgent.Configuration(app: app, account: .pseudoUser)
        configuration.usesTLS = options.number("tls") == 1
        configuration.transport = options.number("websocket") == 1 ? .webSocket : .tcp
        configuration.keepAlive = .seconds(options.number("keepalive") ?? 60)
        // Reconnects quickly: with the usual delays, which protect a cloud, forty cuts would take an hour.
        var reconnect = ReconnectPolicy.Configuration()
        reconnect.firstDelayAfterPeerLoss = .milliseconds(20)
        reconnect.baseDelay = .milliseconds(1)
        reconnect.maximumDelay = .milliseconds(20)
        // To the agent, a proxy that cuts often looks like another receiver.
        reconnect.firstDisputedDelay = .milliseconds(1)
        reconnect.maximumDisputedDelay = .milliseconds(20)
        if let files = options.number("files") {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = rlim_t(files)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(71) }
        }
        if options.number("holds") == 1 { settings.shutdownGrace = .zero }
        let runtime = try PushRuntime(configuration: settings)
        let agent =
            options.number("programs") == 1
            ? PushAgent(
                runtime: runtime, configuration: configuration,
                handler: SpawningHandler(log: options["log"], count: settings.concurrentHandlers), reconnect: reconnect)
            : PushAgent(
                runtime: runtime, configuration: configuration, handler: CountingHandler(log: log, options: options),
                reconnect: reconnect)
        guard let events = AppendedFile(options["events"]) else { exit(66) }
        let stream = agent.events
        Task { await tell(stream, to: events) }
        let running = Task { try await agent.run() }
        signal(SIGTERM, SIG_IGN)
        let stop = DispatchSource.makeSignalSource(signal: SIGTERM)
        // The source has its own queue, not the main actor's.
        stop.setEventHandler { @Sendable in running.cancel() }
        stop.resume()
        try await running.value
        await runtime.shutdown()
        // The stream of events continues as long as the agent exists.
        exit(0)
    }

    private static func tell(_ events: AsyncStream<PushEvent>, to file: AppendedFile) async {
        for await event in events {
            switch event {
            case .message: break
            case .connected: file.append("connected\n")
            case .disconnected(let reason, _): file.append("disconnected \(reason)\n")
            case .trouble(let kind, let reason): file.append("not \(kind.rawValue) \(reason)\n")
            case .recovered(let kind): file.append("\(kind.rawValue) again\n")
            case .notice(let kind, _, _): file.append("\(kind.rawValue)\n")
            default: file.append("\(event)".prefix { $0 != "(" } + "\n")
            }
        }
    }
}
