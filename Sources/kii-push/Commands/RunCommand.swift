import Glibc
import KiiPushActivation
import KiiPushCommandLine
import KiiPushCore
import KiiPushDesktop

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Receives, and hands each message to a command, a server or a program.",
        examples: [
            ("A command for each message, its payload on standard input", "kii-push run --exec ./on-push"),
            ("A few words of shell", "kii-push run --shell --exec 'jq -r .msg >> messages'"),
            ("A server on this machine", "kii-push run --forward-to 3000/push"),
            ("A program that receives with this library", "kii-push run --activate ./agent -- --quiet"),
        ],
        discussion: HandlerOptions.discussion(ofFleet: false, inbox: "kii-push inbox") + [
            "A program with this library (--activate) is started for a push, keeps running and gets those that follow, "
                + "from the descriptor that KII_PUSH_LAUNCH_FD names.",
            "What a program writes to its standard output goes to standard error.",
            "Options that are not given come from \"run\" of the profile in config.json, where their names are those of the "
                + "options: execTimeout, forwardTo. A handler that an option names takes the place of the file's.",
            "What the profile declares in \"subscriptions\" it subscribes to, as often as that takes; it ends no subscription. "
                + "A profile that the configuration knows and nobody has registered is registered, as a user of its own.",
            "SIGHUP reads the files again, SIGUSR1 writes the state to standard error as JSON, SIGTERM ends it when what "
                + "has begun is done; a second one at once. Under systemd ('kii-push install-unit') it says when it is "
                + "ready, how it is, and that it is alive.",
            "It receives as the profile's own user or thing, of which the cloud lets one receiver connect at a time.",
        ],
        exitCodes: ExitStatus.ofCloudCommands
            + [.missingInput, .cannotCreate, .inputOutput, .interrupted, .terminated],
        environment: EnvironmentVariable.ofCloudCommands + [
            .stateHome, .stateDirectory, .path, .credentialsDirectory, .notifySocket, .watchdogMicroseconds,
            .watchdogProcess, .journalStream,
        ]
    )

    @OptionGroup var options: RunOptions

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions

    func validate() throws {
        if self.profile.profile == nil, EnvironmentVariable.store.text != nil {
            throw CommandFailure(
                .usage,
                "KII_PUSH_STORE is set: be a gateway of that fleet with 'kii-push-gateway run', or the profile's receiver with "
                    + "'--profile NAME'")
        }
        // If the options name no handler, config.json may name the handler that the options require.
        guard self.own.namesHandler, let problem = self.own.problem({ "'\(RunSettings.option($0))'" }) else { return }
        throw CommandFailure(.usage, problem)
    }

    func run() async throws {
        let service = RunService(console: self.output.console)
        var session = try await self.session(1, service, nil)
        // Handles signals only from here on. Until here a signal ends the process at once: registering may take
        // minutes.
        let signals = try StopSignals.ofCommand(asks: [SIGHUP, SIGUSR1])
        // Before the metrics' socket is created: a second `run` then reports the process that receives, and not that
        // the socket is in use.
        do {
            _ = try await session.runtime.ledger()
        } catch let error as PushAgentError {
            if case .stateDirectoryInUse = error { throw error }
        }
        // One publisher for all sessions, so that a reload does not reset the counters. A reload cannot move the
        // metrics to another socket.
        let metrics = try await MetricsPublisher.start(session.settings, console: service.console)
        session.metrics = metrics
        do {
            try await service.run(session, signals) { number in
                try await self.session(number, service, metrics)
            }
        } catch {
            await metrics?.stop()
            throw CommandFailure.advising(error, of: session.profile)
        }
        await metrics?.stop()
    }

    private var own: RunSettings { RunSettings(self.options) }

    /// The profile's registration. If `mayRegister`, an unregistered profile is registered as a pseudo user. Exceptions
    /// are a profile with an emulator, and a profile with a password, which belongs to a user or thing.
    private func registration(
        of profile: Profile, with cloud: CloudSettings, mayRegister: Bool, _ console: Console
    ) async throws -> (saved: SavedProfile, registration: Registration) {
        guard mayRegister, profile.saved == nil, cloud.source != .emulator, profile.credentials.password == nil else {
            return try profile.registration(with: cloud)
        }
        console.status("> Registering, as a user of its own.")
        do {
            return try await profile.register(.pseudoUser, with: cloud)
        } catch let error as KiiResponseError {
            // The answer was not the cloud's, but for example a hotel network's sign-in page. The service manager tries
            // again.
            throw CommandFailure(.temporary, error.description)
        }
    }

    private func session(
        _ number: Int, _ service: RunService, _ metrics: MetricsPublisher?
    ) async throws -> RunSession {
        let profile = try Profile(self.profile)
        let file = try ProfileConfiguration.read(profile.location.paths, profile: profile.name)
        var settings = self.own.completed(from: try file.runSettings())
        settings.userAgent = self.profile.connection.userAgent ?? file.cloud[.userAgent]?.value
        if let problem = settings.problem({ "'\(RunSettings.option($0))'" }) {
            throw CommandFailure(.usage, problem, helpPath: "kii-push run")
        }
        let report = { @Sendable (event: Activator.Event) in service.console.show(event) }
        let unpresentable = { @Sendable (reason: DesktopServiceError) in
            service.console.status("! Alerts cannot be shown; the program gets them at once: \(reason)")
        }
        guard
            let receiver = try settings.receiver(
                directory: profile.directory, report: report, whenUnpresentable: unpresentable)
        else {
            throw CommandFailure(
                .usage,
                "who is to handle the messages? '--exec COMMAND', '--forward-to URL' or '--activate PROGRAM' is missing",
                helpPath: "kii-push run")
        }
        let cloud = try profile.cloud(self.profile)
        // Checked before the profile is registered or a runtime created, so that a failed reload changes nothing.
        if let file = cloud.caFile, access(file, R_OK) != 0 {
            throw CommandFailure(.configuration, "cannot read the authorities in \(file): \(errorText(errno))")
        }
        cloud.warn(service.console)
        let (saved, registration) = try await self.registration(
            of: profile, with: cloud, mayRegister: number == 1, service.console)
        var identity = profile.agentConfiguration(saved.account, at: cloud)
        identity.subscriptions = try file.subscriptions?.value.targets(of: registration.principal) ?? []
        profile.note(identity.subscriptions, isSubscribed: true, service.console)
        if let keepAlive = settings.options.keepAlive { identity.keepAlive = keepAlive.duration }
        var configuration = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        configuration.hasControlSocket = true
        // As many handlers as the receiver has room for: further handlers would wait while their time limit runs.
        configuration.concurrentHandlers = receiver.concurrency
        let runtime = try PushRuntime(configuration: configuration)
        return RunSession(
            profile: profile.name, settings: settings, shutdownGrace: configuration.shutdownGrace, runtime: runtime,
            agent: receiver.agent(runtime: runtime, configuration: identity), receiver: receiver,
            view: service.view(installationID: registration.installationID, receiver.notes),
            status: service.status(
                number, installationID: registration.installationID,
                offlineLimit: settings.options.exitWhenOffline?.duration),
            metrics: metrics)
    }
}
