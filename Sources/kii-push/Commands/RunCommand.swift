import Glibc
import KiiPushCore

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Receives, and starts a program for what arrives, until it is stopped.",
        examples: [
            .init("A program that receives with this library", "kii-push run --activate ./agent -- --quiet"),
            .init(
                "Any other: the payload on standard input, the answer by exit status",
                "kii-push run --activate /etc/push/handle --stdin"),
        ],
        discussion: [
            "The program is started for a push; one that speaks the protocol keeps running and gets those that follow. "
                + "A message is done with the program's own answer. One that is killed, crashes or does not answer "
                + "within 30 s has failed this attempt, and the message is tried again.",
            "Exit status of a program without the library: 0 newData, 10 noData, 65 never again, 75 or any other failed. "
                + "The variable KII_PUSH_LAUNCH_FD names the descriptor that it gets messages from; with --stdin it has "
                + "none.",
            "What the program writes to its standard output goes to standard error.",
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.missingInput, .inputOutput, .interrupted],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory, .path]
    )

    @Option(value: "PROGRAM", help: "What to start, found along the PATH unless it has a slash.")
    var activate: String?

    @Flag(help: "Start the program once for each message, with the payload on its standard input.")
    var stdin = false

    @Option(
        value: "N",
        help: "How many messages the program gets at once, if it says that it takes as many. Default: 1."
    )
    var concurrency: PositiveCount?

    @Option(
        value: "TIME",
        help: "How long the program has to end after SIGTERM before SIGKILL follows (500ms, 10s, 5m). Default: 5s."
    )
    var grace: TimeSpan?

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    @Argument(value: "ARG", help: "The program's arguments, after '--'.")
    var arguments: [String] = []

    func validate() throws {
        if self.stdin, self.concurrency != nil {
            throw ValidationError("'--stdin' and '--concurrency' exclude each other")
        }
        guard self.activate != nil else {
            throw ValidationError("'--activate PROGRAM' is missing: what is to be started")
        }
    }

    func run() async throws {
        guard let program = self.activate else { return }
        try Self.requireProgram(program)
        let console = self.output.console
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        let (saved, registration) = try profile.registration(with: cloud)
        cloud.warn(console)
        var settings = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        // No message's time runs out while the program has another.
        settings.concurrentHandlers = self.concurrency?.value ?? 1
        let view = RunView(console: console, installationID: registration.installationID)
        var activation = Activator.Configuration(command: [program] + self.arguments)
        activation.sendsOutputToStandardError = true
        activation.input = self.stdin ? .standardInput : .descriptor
        if let grace = self.grace { activation.terminationGrace = grace.duration }
        activation.processFile = "\(profile.directory)/activated"
        let activator = Activator(configuration: activation, report: { view.report($0) })
        let runtime = try PushRuntime(configuration: settings)
        let agent = PushAgent(
            runtime: runtime,
            configuration: profile.agentConfiguration(saved.account, app: cloud.app),
            handler: activator
        )
        let programEvents = Task { await view.showProgram() }
        let ending = try await Listening(agent: agent, view: view, timeout: nil).run()
        await activator.stop()
        view.endProgram()
        await programEvents.value
        await runtime.shutdown()
        switch ending {
        case .failed(let error): throw error
        case .signal(let number): throw SilentExit(status: StopSignals.status(after: number))
        case .stopped, .counted, .timedOut, .neverConnected: return
        }
    }

    /// Before anything is received: a message whose program cannot be started has failed an attempt, and has only so many.
    private static func requireProgram(_ program: String) throws {
        let path = ProcessEnvironment()[.path, default: "/bin:/usr/bin"]
        // As posix_spawnp(3) does: an empty part is the working directory.
        let directories = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        let places = program.contains("/") ? [program] : directories.map { "\($0)/\(program)" }
        let isThere = places.contains { place in
            var status = stat()
            return stat(place, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(place, X_OK) == 0
        }
        guard !isThere else { return }
        throw CommandFailure(
            .missingInput, "there is no program '\(program)' that could be started",
            hint: "name it with its whole path, make it executable, or install it")
    }
}

/// Shows what an agent and its program go through. An actor, so that lines come out one after the other.
actor RunView: AgentView {
    private let console: Console
    private let installationID: String
    private let endings: AsyncStream<ListenEnding>
    private let endingContinuation: AsyncStream<ListenEnding>.Continuation
    private let programEvents: AsyncStream<Activator.Event>
    private let programContinuation: AsyncStream<Activator.Event>.Continuation
    /// When the call for a message began.
    private var started: [Int64: ContinuousClock.Instant] = [:]

    init(console: Console, installationID: String) {
        self.console = console
        self.installationID = installationID
        (self.endings, self.endingContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (self.programEvents, self.programContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    func ending() async -> ListenEnding? {
        for await ending in self.endings { return ending }
        return nil
    }

    func connected() async -> Bool { true }

    func show(_ event: PushEvent) {
        do {
            switch event {
            case .connected(let connection): try self.console.show(connection, of: self.installationID)
            case .disconnected(let reason, let retryIn):
                try self.console.show(trouble: "offline", reason, retryIn: retryIn)
            case .message(let event): try self.show(event)
            default: try self.console.show(event)
            }
        } catch {
            self.endingContinuation.yield(.failed(error))
        }
    }

    private func show(_ event: MessageEvent) throws {
        if case .started = event.kind { self.started[event.messageID] = .now }
        let elapsed = self.started[event.messageID].map { ContinuousClock.now - $0 }
        switch event.kind {
        case .done, .unreached, .dismissed, .dead, .retry, .handedBack: self.started[event.messageID] = nil
        case .received, .joined, .started, .presented, .opened, .late, .stuck: break
        }
        try self.console.show(event, after: elapsed)
    }

    /// Takes what the program does; returns at once.
    nonisolated func report(_ event: Activator.Event) { self.programContinuation.yield(event) }

    /// Nothing more comes of the program.
    nonisolated func endProgram() { self.programContinuation.finish() }

    /// Shows what the program does, on standard error, until ``endProgram()``.
    func showProgram() async {
        for await event in self.programEvents {
            let text = "program: \(event.description.terminalSafe)"
            switch event {
            case .started, .ended, .leftoverEnded: self.console.detail(text)
            case .startFailed, .terminated, .misspoke, .processFileFailed: self.console.warning(text)
            }
        }
    }
}
