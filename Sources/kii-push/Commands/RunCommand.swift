import KiiPushCore

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Receives, and hands each message to a command, a server or a program.",
        examples: [
            .init("A command for each message, its payload on standard input", "kii-push run --exec ./on-push"),
            .init("A few words of shell", "kii-push run --shell --exec 'jq -r .msg >> messages'"),
            .init("A server on this machine", "kii-push run --forward-to 3000/push"),
            .init("A program that receives with this library", "kii-push run --activate ./agent -- --quiet"),
        ],
        discussion: [
            "A command answers by its exit status: 0 newData, 10 noData, 65 never again, 75 or any other failed. It finds "
                + "KII_PUSH_ID, KII_PUSH_KIND, KII_PUSH_TOPIC or KII_PUSH_BUCKET, KII_PUSH_ATTEMPT, KII_PUSH_DEADLINE "
                + "(milliseconds since 1970) and KII_PUSH_PAYLOAD_FILE in its environment.",
            "A server answers by its HTTP status: 204 noData, any other 2xx newData; 408, 425, 429, 5xx, a redirect or no "
                + "answer failed; any other 4xx never again. It gets Kii-Push-Id, Kii-Push-Kind, Kii-Push-Topic or "
                + "Kii-Push-Bucket, and Kii-Push-Attempt. With Retry-After it is left alone until then, 5 min at most.",
            "A program with this library (--activate) is started for a push, keeps running and gets those that follow, "
                + "from the descriptor that KII_PUSH_LAUNCH_FD names; with --stdin it is a command.",
            "What failed, was killed or did not answer within 30 s is tried again after 1 s, 5 s, 30 s, 5 min and 30 min; "
                + "then, as what was refused for good, it is kept for 'kii-push inbox'.",
            "What a program writes to its standard output goes to standard error.",
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.missingInput, .inputOutput, .interrupted],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory, .path]
    )

    @OptionGroup(title: "Handler")
    var handler: HandlerOptions

    @Option(value: "PROGRAM", help: "Start a program with this library, found along the PATH unless it has a slash.")
    var activate: String?

    @Flag(help: "Start PROGRAM once for each message, with the payload on its standard input.")
    var stdin = false

    @Option(
        value: "N",
        help: "How many messages PROGRAM gets at once, if it says that it takes as many. Default: 1."
    )
    var concurrency: PositiveCount?

    @Option(
        value: "TIME",
        help: "How long a program has to end after SIGTERM before SIGKILL follows (500ms, 10s, 5m). Default: 5s."
    )
    var grace: TimeSpan?

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    @Argument(value: "ARG", help: "Further arguments of COMMAND or PROGRAM, after '--'.")
    var arguments: [String] = []

    func validate() throws {
        if self.stdin, self.concurrency != nil {
            throw ValidationError("'--stdin' and '--concurrency' exclude each other")
        }
        if self.activate != nil, self.handler.isGiven {
            let other = self.handler.exec == nil ? "--forward-to" : "--exec"
            throw ValidationError("'--activate' and '\(other)' exclude each other")
        }
        if self.activate == nil, self.stdin || self.concurrency != nil {
            throw ValidationError("'\(self.stdin ? "--stdin" : "--concurrency")' needs '--activate PROGRAM'")
        }
        if self.handler.forwardTo != nil, self.grace != nil || !self.arguments.isEmpty {
            throw ValidationError("'\(self.grace != nil ? "--grace" : "ARG")' is for a program, not for a server")
        }
        guard self.activate != nil || self.handler.isGiven else {
            throw ValidationError(
                "who is to handle the messages? '--exec COMMAND', '--forward-to URL' or '--activate PROGRAM' is missing"
            )
        }
    }

    func run() async throws {
        let console = self.output.console
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        let (saved, registration) = try profile.registration(with: cloud)
        let view = RunView(console: console, installationID: registration.installationID)
        let receiver = try self.receiver(directory: profile.directory, report: { view.report($0) })
        cloud.warn(console)
        var settings = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        // No message's time runs out while the program has another.
        settings.concurrentHandlers = receiver.concurrency
        let runtime = try PushRuntime(configuration: settings)
        let agent = receiver.agent(
            runtime: runtime, configuration: profile.agentConfiguration(saved.account, app: cloud.app))
        await view.shows(receiver.bridge)
        receiver.begin()
        let programEvents = Task { await view.showProgram() }
        let ending = try await Listening(agent: agent, view: view, timeout: nil).run()
        await receiver.stop()
        view.endProgram()
        await programEvents.value
        await runtime.shutdown()
        switch ending {
        case .failed(let error): throw error
        case .signal(let number): throw SilentExit(status: StopSignals.status(after: number))
        case .stopped, .counted, .timedOut, .neverConnected: return
        }
    }

    /// Who handles messages, as the options say.
    private func receiver(
        directory: String, report: @escaping @Sendable (Activator.Event) -> Void
    ) throws -> RunReceiver {
        if let plan = self.handler.plan(arguments: self.arguments, grace: self.grace?.duration) {
            return .outside(
                OutsideBridge(try plan.handler(directory: directory, report: report)), concurrency: plan.jobs)
        }
        guard let program = self.activate else {
            throw CommandFailure(.internalError, "nobody was named to handle messages")
        }
        try ProgramLookup.require(program)
        var activation = Activator.Configuration(command: [program] + self.arguments)
        activation.sendsOutputToStandardError = true
        activation.input = self.stdin ? .standardInput : .descriptor
        activation.withheldVariables = ChildEnvironment.ofServiceManager
        if let grace = self.grace { activation.terminationGrace = grace.duration }
        activation.processFile = "\(directory)/activated"
        return .activator(
            Activator(configuration: activation, report: report), concurrency: self.concurrency?.value ?? 1)
    }
}
