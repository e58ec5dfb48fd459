import KiiPushActivation
import KiiPushCommandLine
import KiiPushCore

struct ListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Receives, and shows what arrives, what it means and what was answered.",
        examples: [
            ("Until ^C", "kii-push listen"),
            ("One push, waiting a minute for it at most", "kii-push listen -n 1 -t 1m"),
            ("For a program", "kii-push listen --json | jq -c 'select(.type==\"message\") | .custom'"),
            ("What happens to a push that is not processed?", "kii-push listen --complete-as failed"),
            ("Of one topic, in words of my own", "kii-push listen --topic alerts -F '%{time} %{payload}\\n'"),
            ("Try a command or a server on what arrives", "kii-push listen --exec ./on-push"),
            ("For 'kii-push replay'", "kii-push listen --record pushes.kpr"),
        ],
        discussion: [
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time. While "
                + "'kii-push run', or another program with a control socket, receives as the same one, it shows what "
                + "that one goes through, whose handler answers.",
            "Messages that the filter hides stay in the inbox: the next 'listen' or 'run' receives them. Where 'listen' "
                + "cannot leave them there, it says so at its start.",
            "Messages and answers go to standard output, the state of the connection to standard error; with --json all "
                + "of it goes to standard output. A message counts as received when its answer is stored.",
        ],
        exitCodes: ExitStatus.ofCloudCommands
            + [.missingInput, .cannotCreate, .inputOutput, .timedOut, .interrupted, .terminated],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory, .path]
    )

    @Option(short: "n", value: "N", help: "End after N messages, which are handled one at a time.")
    var count: PositiveCount?

    @Option(
        short: "t", value: "TIME",
        help: "End after this time (500ms, 10s, 5m), counted from the connection; to connect may take as long.")
    var timeout: TimeSpan?

    @Option(value: "RESULT", help: "The answer to every message: newData, noData or failed. Default: newData.")
    var completeAs: FetchResult?

    @OptionGroup(title: "Handler") var handler: HandlerOptions

    @Option(
        value: "START",
        help: "First list done messages and dead letters since START: 10m (ago), all, or a message's number.")
    var since: SinceChoice?

    @Flag(help: "Keep what arrives in memory alone, not in the inbox on the disk: nothing is left of it afterwards.")
    var inMemory = false

    @Option(
        value: "DIR", help: "Watch the program that receives with this state directory, which is none of the profiles.",
        completion: .directory)
    var stateDirectory: String?

    @Option(value: "FILE", help: "Add the messages to this file, each on its first attempt.", completion: .file)
    var record: String?

    @OptionGroup(title: "Filter") var filter: FilterOptions

    @Option(
        short: "F", value: "FORMAT",
        help: "Print this for each message instead ('kii-push help formatting').")
    var format: MessageFormat?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions

    func validate() throws {
        try self.handler.validateAlone()
        for option in ["profile", "in-memory", "complete-as", "exec", "forward-to"] {
            try self.exclude("state-directory", option)
        }
        try self.exclude("complete-as", "exec")
        try self.exclude("complete-as", "forward-to")
        try self.exclude("format", "json")
    }

    func run() async throws {
        let console = self.output.console
        if let stateDirectory { return try await self.watchProgram(in: stateDirectory) }
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        let (saved, registration) = try profile.registration(with: cloud)
        let style = try self.style(for: registration.principal)
        cloud.warn(console)
        let filtered = try SubscriptionTarget.targets(
            topics: self.filter.topic, buckets: self.filter.bucket, of: registration.principal)
        async let _: Void = profile.checkSubscriptions(
            to: filtered, of: registration.principal, at: cloud, console)
        if let client = try ControlClient(stateDirectory: profile.directory) {
            return try await self.watch(
                client, in: profile.directory, installationID: registration.installationID, style)
        }
        try await self.since?.show(from: profile.directory, style)
        if self.inMemory, !style.filter.isEmpty { console.status(ListenView.hidesForGood) }
        var (place, completed, setAside) = (cloud, 0, 0)
        while true {
            let (ending, view) = try await self.receive(
                profile, place, style, installationID: registration.installationID, account: saved.account,
                count: self.count.map { $0.value - completed })
            completed += view.completedCount
            setAside += view.setAsideCount
            if case .moved = ending {
                place = try profile.cloud(self.profile)
                console.status("> The emulator listens elsewhere now: \(place.app.baseURL.terminalSafe)")
                continue
            }
            if setAside > 0 {
                console.status("> \(setAside) hidden by the filter wait in the inbox for the next run.")
            }
            if case .neverConnected = ending {
                let reason = view.lastTrouble ?? "nothing is known about why"
                throw CommandFailure(.unreachable, "no connection came about in time: \(reason)")
            }
            if case .failed(let error) = ending { throw CommandFailure.advising(error, of: profile.name) }
            return try self.conclude(ending, completedCount: completed, console)
        }
    }

    private func receive(
        _ profile: Profile, _ cloud: CloudSettings, _ style: EventView.Style, installationID: String,
        account: SavedProfile.Account, count: Int?
    ) async throws -> (ending: ListenEnding, view: ListenView) {
        var configuration = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        configuration.hasControlSocket = true
        if self.inMemory { configuration.inbox = .memory }
        // One message at a time by default, so that the output is in order. With `--count` it is always one at a time,
        // so that no handler starts after the last counted message.
        configuration.concurrentHandlers = count == nil ? self.handler.jobs?.value ?? 1 : 1
        if self.handler.isGiven { configuration.shutdownGrace = HandlerOptions.longest }
        var settings = self.handler.settings
        settings.userAgent = cloud.userAgent
        let bridge = try settings.outsideHandler(directory: profile.directory) {
            style.console.detail("program: \($0.description.terminalSafe)")
        }.map { OutsideBridge(outside: $0, notes: MessageNotes()) }
        let runtime = try PushRuntime(configuration: configuration)
        let view = ListenView(
            style, installationID: installationID, result: self.completeAs ?? .newData, count: count, bridge: bridge,
            setsAside: !self.inMemory)
        let identity = profile.agentConfiguration(account, at: cloud)
        let agent =
            if bridge != nil || !style.filter.isEmpty {
                PushAgent(
                    runtime: runtime, configuration: identity,
                    handler: CommandTakingView(messages: view, bridge: bridge))
            } else {
                PushAgent(runtime: runtime, configuration: identity, handler: view)
            }
        if let bridge {
            // Ends programs that an earlier run of the command left. If this process does not hold the lock, another
            // process may still use these programs.
            if try await runtime.locksStateDirectory() { bridge.outside.begin() }
        }
        let ending = try await view.listen(
            as: agent, at: cloud, emulatorFile: profile.location.paths.emulator, timeout: self.timeout?.duration)
        await bridge?.outside.stop()
        await runtime.shutdown()
        return (ending, view)
    }

    private func style(for principal: Principal?) throws -> EventView.Style {
        EventView.Style(
            console: self.output.console, filter: try self.filter.filter(for: principal), format: self.format,
            recorder: try self.record.map { try MessageRecorder($0) })
    }

    private func watchProgram(in directory: String) async throws {
        guard let client = try ControlClient(stateDirectory: directory) else {
            throw CommandFailure(
                .unreachable, "no program with a control socket receives with \(directory)",
                hint: "start it, with PushRuntime.Configuration.hasControlSocket set")
        }
        let registration = try PushAgent.registration(in: directory)
        try await self.watch(
            client, in: directory, installationID: registration?.installationID ?? "unknown",
            try self.style(for: registration?.principal))
    }

    private func watch(
        _ client: ControlClient, in directory: String, installationID: String, _ style: EventView.Style
    ) async throws {
        guard self.completeAs == nil, !self.handler.isGiven else {
            throw CommandFailure(
                .temporary, "another process receives, and its handler answers",
                hint: "stop it first, or only watch it: leave out --complete-as, --exec and --forward-to")
        }
        style.console.status("> Watching the process that receives; its handler answers.")
        if !style.filter.isEmpty {
            style.console.status("> Messages that the filter hides are not kept for later: that process handles them.")
        }
        // Attaches before it lists the inbox, so that it misses no event in between.
        let listening = try AttachedListening(
            client, directory: directory, style, installationID: installationID, count: self.count?.value)
        try await self.since?.show(from: directory, style)
        let ending = try await listening.run(timeout: self.timeout?.duration)
        if case .stopped = ending {
            throw CommandFailure(
                .unreachable, "the process that received has ended", hint: "run it again: it receives itself then")
        }
        try await self.conclude(ending, completedCount: listening.completedCount, style.console)
    }

    private func conclude(_ ending: ListenEnding, completedCount: Int, _ console: Console) throws {
        switch ending {
        case .stopped, .counted, .neverConnected, .moved: return
        case .signal(let number): throw SilentExit.status(.afterStop(signal: number))
        case .failed(let error): throw error
        case .timedOut:
            guard let count = self.count?.value else { return }
            console.status("time ran out with \(completedCount) of \(count) messages")
            throw SilentExit.status(.timedOut)
        }
    }
}

extension FetchResult: ExpressibleByArgument {
    init?(argument: String) {
        guard let result = Self.allCases.first(where: { $0.word == argument }) else { return nil }
        self = result
    }

    static var expectation: String { "one of " + Self.allCases.map(\.word).joined(separator: ", ") }
    static var completion: CompletionKind { .words(Self.allCases.map(\.word)) }
    var argumentText: String? { self.word }
}
