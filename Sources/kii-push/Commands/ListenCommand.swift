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
        ],
        discussion: [
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time: it "
                + "refuses to start while another process on this machine receives as the same one.",
            "Messages and answers go to standard output, the state of the connection to standard error; with --json all "
                + "of it goes to standard output. A message counts as received when its answer is stored.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.inputOutput, .timedOut, .interrupted],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory]
    )

    @Option(name: .customShort("n"), value: "N", help: "End after N messages.")
    var count: PositiveCount?

    @Option(
        name: .shortAndLong,
        value: "TIME",
        help: "End after this time (500ms, 10s, 5m), counted from the connection; to connect may take as long."
    )
    var timeout: TimeSpan?

    @Option(value: "RESULT", help: "The answer to every message: newData, noData or failed.")
    var completeAs = CompletionChoice.newData

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    func run() async throws {
        let console = self.output.console
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        let (saved, registration) = try profile.registration(with: cloud)
        cloud.warn(console)
        var configuration = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        // One at a time: what is shown is in order, and with --count nothing is taken that is not shown.
        configuration.concurrentHandlers = 1
        let runtime = try PushRuntime(configuration: configuration)
        let view = ListenView(
            console: console,
            installationID: registration.installationID,
            result: self.completeAs.result,
            count: self.count?.value
        )
        let agent = PushAgent(
            runtime: runtime,
            configuration: profile.agentConfiguration(saved.account, app: cloud.app),
            handler: view
        )
        let ending = try await Listening(agent: agent, view: view, timeout: self.timeout?.duration).run()
        await runtime.shutdown()
        try await self.conclude(ending, view: view, console: console)
    }

    private func conclude(_ ending: ListenEnding, view: ListenView, console: Console) async throws {
        switch ending {
        case .stopped, .counted: return
        case .signal(let number): throw SilentExit(status: StopSignals.status(after: number))
        case .failed(let error): throw error
        case .neverConnected:
            let reason = await view.lastTrouble ?? "nothing is known about why"
            throw CommandFailure(.unreachable, "no connection came about in time: \(reason)")
        case .timedOut:
            guard let count = self.count?.value else { return }
            let received = await view.completedCount
            console.status("time ran out with \(received) of \(count) messages")
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
