import KiiPushCommandLine
import KiiPushCore

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Finds out what is wrong: files, network, clock, cloud, broker.",
        examples: [
            ("Everything, in 10 seconds at most", "kii-push doctor"),
            ("With a real push to this profile", "kii-push doctor --round-trip"),
            ("What failed, for a program", "kii-push doctor --json | jq 'select(.outcome==\"failed\")'"),
        ],
        discussion: [
            "One line a check; then what to do. A check that makes no sense after another one failed is skipped and says "
                + "after which. It ends with the exit code of the first check that failed; a warning is no failure.",
            "It connects to the broker as the profile, and what arrives meanwhile is stored for the next 'listen' or "
                + "'run'. While another process receives as this profile it does not connect, since the cloud lets one "
                + "receiver connect at a time; all other checks are made.",
            "The push of --round-trip goes to the profile's own user, for which the cloud wants the app's admin, or to a "
                + "topic that a thing is subscribed to in its own scope. No handler gets it if it arrives in time. With "
                + "the emulator it is always sent, unless --no-round-trip is given.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.cannotCreate, .inputOutput],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory, .credentialsDirectory]
    )

    @Flag(help: "Send a push to this profile and wait for it.") var roundTrip = false
    @Flag(help: "Send none, also with the emulator.") var noRoundTrip = false

    @Option(
        short: "t", value: "TIME",
        help: "How long all checks may take together (500ms, 10s, 5m); one takes 3/10 of it at most. Default: 10s."
    )
    var timeout: TimeSpan?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions

    func validate() throws { try self.exclude("round-trip", "no-round-trip") }

    func run() async throws {
        let console = self.output.console
        var examination = Examination(time: self.timeout?.duration ?? .seconds(10)) { try console.show($0) }
        try await console.waiting { try await self.examine(&examination) }
        try examination.note(Check.Key(.service), ServiceContext.finding())
        try examination.end(on: console)
    }

    private func examine(_ examination: inout Examination) async throws {
        guard let session = try self.examineFiles(&examination) else { return }
        let sendsPush = self.roundTrip || (session.cloud.source == .emulator && !self.noRoundTrip)
        try await session.runtime.shuttingDown { try await session.examine(&examination, sendsPush: sendsPush) }
    }

    private func examineFiles(_ examination: inout Examination) throws -> DoctorSession? {
        let modes = Check.Key(.fileModes)
        let location: ProfileLocation
        do {
            location = try ProfileLocation(named: self.profile.profile, configurationFile: self.profile.config)
        } catch {
            try examination.note(Check.Key(.configuration), .failed(error))
            return nil
        }
        let files = FileChecks(location: location, named: [self.profile.appKeyFile].compactMap { $0 })
        try examination.note(modes, files.modes())
        var session: DoctorSession?
        var configuration = Finding.unknown("")
        var emulatorGone: CommandFailure?
        if examination.isClear([modes]) {
            do {
                let profile = try Profile(self.profile)
                let cloud = try profile.cloud(self.profile)
                session = try DoctorSession(profile: profile, cloud: cloud, limit: examination.limit)
                let evidence = "profile '\(profile.name)', \(cloud.source.rawValue)"
                configuration =
                    profile.saved == nil
                    ? .warning("\(evidence); it is not registered", fix: profile.registerHint) : .ok(evidence)
            } catch let failure as CommandFailure where failure.exit == .unreachable {
                configuration = .ok("profile '\(location.name)', emulator")
                emulatorGone = failure
            } catch {
                configuration = .failed(error)
            }
        }
        try examination.note(Check.Key(.configuration), after: [modes], configuration)
        try examination.note(Check.Key(.stateDirectory), files.stateDirectory())
        try examination.note(Check.Key(.inbox), files.inbox())
        if let emulatorGone { try examination.note(Check.Key(.tcp, .cloud), .failed(emulatorGone)) }
        return session
    }
}
