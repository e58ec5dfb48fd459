import KiiPushCore
import KiiPushEmulator

struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Runs a Kii-style cloud with an MQTT broker on this machine, until stopped.",
        examples: [
            .init("On free ports, forgetting everything at the end", "kii-push emulator"),
            .init("Keeping its users, topics and messages", "kii-push emulator --directory ~/.local/share/emulator"),
            .init("Whose tokens and endpoints end", "kii-push emulator --token-lifetime 10m --mqtt-ttl 1h"),
            .init("The address for a program of your own", "kii-push emulator --json | jq -r --unbuffered .baseURL"),
        ],
        discussion: [
            "The other commands find a running emulator by themselves. It listens on 127.0.0.1 alone. Its app key and "
                + "admin credentials are in the file that it names, mode 0600."
        ],
        exitCodes: [.unreachable, .cannotCreate, .inputOutput, .temporary, .configuration, .interrupted],
        environment: [.runtimeDirectory]
    )

    @Option(value: "PORT", help: "The port of the REST API; 0 takes a free one.")
    var port: UInt16 = 0

    @Option(value: "PORT", help: "The port of the REST API by HTTPS; 0 takes a free one.")
    var httpsPort: UInt16 = 0

    @Option(value: "PORT", help: "The broker's plain port; 0 takes a free one.")
    var mqttPort: UInt16 = 0

    @Option(name: .customLong("mqtts-port"), value: "PORT", help: "The broker's TLS port; 0 takes a free one.")
    var mqttTLSPort: UInt16 = 0

    @Option(
        value: "DIR", help: "Keep the state in this directory. Without it, a temporary one is used.",
        completion: .directory)
    var directory: String?

    @Flag(help: "Refuse what Kii's documentation forbids, also where its servers are known to be lenient.")
    var strict = false

    @Option(value: "TIME", help: "How long an installation's MQTT endpoint is not ready (503) at first.")
    var endpointDelay: TimeSpan?

    @Option(name: .customLong("mqtt-ttl"), value: "TIME", help: "How long an MQTT endpoint lasts. Default: for ever.")
    var mqttTTL: TimeSpan?

    @Option(value: "TIME", help: "How long a token lasts unless the login says so. Default: for ever.")
    var tokenLifetime: TimeSpan?

    @Flag(help: "Log in without refresh tokens.")
    var noRefreshTokens = false

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func run() async throws {
        let console = self.output.console
        let file = FilePaths.emulatorFile(ProcessEnvironment())
        if let other = try EmulatorRuntimeFile.find(at: file) {
            throw CommandFailure(
                .temporary,
                "an emulator is running already, as process \(other.processID), at \(other.app.baseURL)",
                hint: "use it, or stop it: kill \(other.processID)"
            )
        }
        // Taken over before anything is started, so that nothing started is left behind.
        let signals = try StopSignals()
        let emulator = try await Emulator.start(self.configuration(runtimeFile: file))
        do {
            try Self.announce(emulator, file: file, on: console)
        } catch {
            await emulator.stop()
            throw error
        }
        let number = await signals.next()
        await emulator.stop()
        console.status("stopped")
        throw SilentExit(status: number.map(StopSignals.status) ?? .success)
    }

    private func configuration(runtimeFile: String) -> Emulator.Configuration {
        var configuration = Emulator.Configuration()
        configuration.port = self.port
        configuration.httpsPort = self.httpsPort
        configuration.mqttPort = self.mqttPort
        configuration.mqttTLSPort = self.mqttTLSPort
        configuration.directory = self.directory
        configuration.strict = self.strict
        configuration.endpointDelay = self.endpointDelay?.duration ?? .zero
        configuration.mqttTTL = self.mqttTTL?.duration
        configuration.tokenLifetime = self.tokenLifetime?.duration
        configuration.refreshTokens = !self.noRefreshTokens
        configuration.runtimeFile = runtimeFile
        return configuration
    }

    private static func announce(_ emulator: Emulator, file: String, on console: Console) throws {
        try console.line("> Ready. \(emulator.baseURL), app \(emulator.appID)   ^C to stop")
        try console.line("  \(emulator.httpsBaseURL ?? "no HTTPS: libmicrohttpd was built without TLS here")")
        try console.line("  MQTT on 127.0.0.1:\(emulator.mqttPort), with TLS on 127.0.0.1:\(emulator.mqttTLSPort)")
        try console.line("  keys and certificate: \(file)")
        var members: [(String, JSONValue)] = [("baseURL", JSONValue(emulator.baseURL))]
        if let httpsBaseURL = emulator.httpsBaseURL { members.append(("httpsBaseURL", JSONValue(httpsBaseURL))) }
        members += [
            ("appID", JSONValue(emulator.appID)), ("mqttPort", JSONValue(Int(emulator.mqttPort))),
            ("mqttTLSPort", JSONValue(Int(emulator.mqttTLSPort))), ("file", JSONValue(file)),
        ]
        try console.object("emulator", members)
    }
}
