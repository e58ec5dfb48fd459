import KiiPushCore

struct ListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Receives, and shows what arrives, what it means and what was answered.",
        examples: [
            .init("Until ^C", "kii-push listen"),
            .init("One push, waiting a minute for it at most", "kii-push listen -n 1 -t 1m"),
            .init("For a program", "kii-push listen --json | jq -c 'select(.type==\"message\") | .custom'"),
            .init("What happens to a push that is not processed?", "kii-push listen --complete-as failed"),
            .init("Of one topic, in words of my own", "kii-push listen --topic alerts -F '%{time} %{payload}\\n'"),
            .init("Try a command or a server on what arrives", "kii-push listen --exec ./on-push"),
            .init("For 'kii-push replay'", "kii-push listen --record pushes.kpr"),
        ],
        discussion: [
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time. While "
                + "'kii-push run', or another program with a control socket, receives as the same one, it shows what "
                + "that one goes through, whose handler answers.",
            "Of the messages that are not meant nothing is shown; where it receives itself, they are answered with noData.",
            "Messages and answers go to standard output, the state of the connection to standard error; with --json all "
                + "of it goes to standard output. A message counts as received when its answer is stored.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.missingInput, .cannotCreate, .inputOutput, .timedOut, .interrupted],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory, .path]
    )

    @Option(name: .customShort("n"), value: "N", help: "End after N messages, which are handled one at a time.")
    var count: PositiveCount?

    @Option(
        name: .shortAndLong,
        value: "TIME",
        help: "End after this time (500ms, 10s, 5m), counted from the connection; to connect may take as long."
    )
    var timeout: TimeSpan?

    @Option(value: "RESULT", help: "The answer to every message: newData, noData or failed. Default: newData.")
    var completeAs: CompletionChoice?

    @OptionGroup(title: "Handler")
    var handler: HandlerOptions

    @Option(
        value: "START",
        help: "First list what came since: 10m, all, or from a message's number on, and is done or was given up on."
    )
    var since: SinceChoice?

    @Flag(help: "Keep what arrives in memory alone, not in the inbox on the disk: nothing is left of it afterwards.")
    var inMemory = false

    @Option(
        value: "DIR", help: "Watch the program that receives with this state directory, which is none of the profiles.",
        completion: .directory)
    var stateDirectory: String?

    @Option(value: "FILE", help: "Add the messages to this file, each on its first attempt.", completion: .file)
    var record: String?

    @OptionGroup(title: "Filter")
    var filter: FilterOptions

    @Option(
        name: .shortAndCustomLong("F", "format"), value: "FORMAT",
        help: "Print this for each message instead ('kii-push help formatting')."
    )
    var format: MessageFormat?

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    func validate() throws {
        try self.handler.validateAlone()
        if self.stateDirectory != nil {
            for (option, isGiven) in [
                ("--profile", self.profile.profile != nil), ("--in-memory", self.inMemory),
                ("--complete-as", self.completeAs != nil), ("--exec", self.handler.exec != nil),
                ("--forward-to", self.handler.forwardTo != nil),
            ] where isGiven {
                throw ValidationError("'--state-directory' and '\(option)' exclude each other")
            }
        }
        if self.completeAs != nil, self.handler.isGiven {
            let other = self.handler.exec == nil ? "--forward-to" : "--exec"
            throw ValidationError("'--complete-as' and '\(other)' exclude each other")
        }
        if self.format != nil, self.output.json { throw ValidationError("'--format' and '--json' exclude each other") }
    }

    func run() async throws {
        let console = self.output.console
        let style = ListenLog.Style(
            console: console, filter: self.filter.filter, format: self.format,
            recorder: try self.record.map { try MessageRecorder($0) })
        if let stateDirectory { return try await self.watchProgram(in: stateDirectory, style) }
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        let (saved, registration) = try profile.registration(with: cloud)
        cloud.warn(console)
        if let client = try ControlClient(stateDirectory: profile.directory) {
            return try await self.watch(
                client, in: profile.directory, installationID: registration.installationID, style)
        }
        try self.since?.show(from: profile.directory, style)
        var configuration = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        configuration.hasControlSocket = true
        if self.inMemory { configuration.inbox = .memory }
        let plan = self.handler.plan()
        // One at a time, if nothing else is said: what is shown is in order. With --count also if more is said: none is
        // taken up beside the last one.
        configuration.concurrentHandlers = self.count == nil ? plan?.jobs ?? 1 : 1
        if plan != nil { configuration.shutdownGrace = HandlerOptions.longest }
        let bridge = try plan.map {
            OutsideBridge(
                outside: try $0.handler(
                    directory: profile.directory,
                    report: { console.detail("program: \($0.description.terminalSafe)") }),
                notes: MessageNotes())
        }
        let runtime = try PushRuntime(configuration: configuration)
        let view = ListenView(
            style,
            installationID: registration.installationID,
            result: (self.completeAs ?? .newData).result,
            count: self.count?.value,
            bridge: bridge
        )
        let identity = profile.agentConfiguration(saved.account, app: cloud.app)
        let agent =
            if let bridge {
                PushAgent(
                    runtime: runtime, configuration: identity,
                    handler: OutsideListenHandler(messages: view, bridge: bridge))
            } else {
                PushAgent(runtime: runtime, configuration: identity, handler: view)
            }
        if let bridge {
            // Locks the state directory: what runs for another process that receives with it is not ended.
            _ = try await runtime.ledger()
            bridge.outside.begin()
        }
        let ending = try await Listening(agent: agent, view: view, timeout: self.timeout?.duration).run()
        await bridge?.outside.stop()
        await runtime.shutdown()
        if case .neverConnected = ending {
            let reason = view.lastTrouble ?? "nothing is known about why"
            throw CommandFailure(.unreachable, "no connection came about in time: \(reason)")
        }
        try self.conclude(ending, completedCount: view.completedCount, console)
    }

    /// Shows what a program goes through that is none of the profiles.
    private func watchProgram(in directory: String, _ style: ListenLog.Style) async throws {
        guard let client = try ControlClient(stateDirectory: directory) else {
            throw CommandFailure(
                .unreachable, "no program with a control socket receives with \(directory)",
                hint: "start it, with PushRuntime.Configuration.hasControlSocket set")
        }
        let registration = try PushAgent.registration(in: directory)
        try await self.watch(
            client, in: directory, installationID: registration?.installationID ?? "unknown", style)
    }

    /// Shows what the process goes through that receives.
    private func watch(
        _ client: ControlClient, in directory: String, installationID: String, _ style: ListenLog.Style
    ) async throws {
        guard self.completeAs == nil, !self.handler.isGiven else {
            throw CommandFailure(
                .temporary, "another process receives, and its handler answers",
                hint: "stop it first, or only watch it: leave out --complete-as, --exec and --forward-to")
        }
        style.console.status("> Watching the process that receives; its handler answers.")
        // Before what is kept is listed: what happens meanwhile waits to be told.
        let listening = try AttachedListening(
            client, directory: directory, style, installationID: installationID, count: self.count?.value)
        try self.since?.show(from: directory, style)
        let ending = try await listening.run(timeout: self.timeout?.duration)
        if case .stopped = ending {
            throw CommandFailure(
                .unreachable, "the process that received has ended", hint: "the same command receives itself now")
        }
        try await self.conclude(ending, completedCount: listening.completedCount, style.console)
    }

    private func conclude(_ ending: ListenEnding, completedCount: Int, _ console: Console) throws {
        switch ending {
        case .stopped, .counted, .neverConnected: return
        case .signal(let number): throw SilentExit(status: StopSignals.status(after: number))
        case .failed(let error): throw error
        case .timedOut:
            guard let count = self.count?.value else { return }
            console.status("time ran out with \(completedCount) of \(count) messages")
            throw SilentExit(status: .timedOut)
        }
    }
}

/// `--complete-as`.
enum CompletionChoice: String, CaseIterable, ExpressibleByArgument {
    case newData
    case noData
    case failed

    var result: FetchResult {
        switch self {
        case .newData: .newData
        case .noData: .noData
        case .failed: .failed
        }
    }
}
