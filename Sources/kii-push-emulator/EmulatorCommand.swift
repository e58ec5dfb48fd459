import KiiPushCommandLine
import KiiPushCore
import KiiPushEmulator

/// The program `kii-push-emulator`, which is also the command `kii-push emulator`.
struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kii-push-emulator",
        abstract: "Runs a Kii-style cloud with an MQTT broker on this machine, until stopped.",
        examples: [
            ("On the same ports each time, with the state of the last time", "kii-push-emulator"),
            ("Beginning with nothing, and leaving nothing", "kii-push-emulator --temporary"),
            ("Whose tokens and endpoints end", "kii-push-emulator --token-lifetime 10m --mqtt-ttl 1h"),
            ("With the bodies of requests and answers", "kii-push-emulator -v"),
            ("With faults, in the order of a script", "kii-push-emulator --script faults.txt"),
            (
                "The address for a program of your own",
                "kii-push-emulator --json | jq -r --unbuffered 'select(.type == \"emulator\").baseURL'"
            ),
        ],
        discussion: [
            "The other commands find a running emulator by themselves. It listens on 127.0.0.1 alone. Its app key and "
                + "admin credentials are in the file that it names, mode 0600.",
            "Each request is shown with its answer, and whom it sent something to, and each installation that connects to "
                + "the broker or leaves it, and what handlers on this machine answer: with -v also bodies, without secrets, "
                + "and with -q nothing. The page that it names shows the same, in a browser.",
            "Users, topics, messages and certificates are kept, so a restart is no event for who receives. A default port "
                + "that is taken is replaced by a free one.",
            "A script has a step a line, such as: after 3 requests answer 503 for 5 s. Steps about packets reach clients "
                + "without TLS, and over WebSocket. POST /__kii/faults plays a script as well.",
        ],
        exitCodes: [
            .missingInput, .unreachable, .cannotCreate, .inputOutput, .temporary, .configuration, .interrupted,
            .terminated,
        ],
        environment: [.runtimeDirectory, .stateHome, .stateDirectory],
        version: UserAgent.version
    )

    @Option(value: "PORT", help: "The port of the REST API; 0: the last one, or a free one. Default: 17680.")
    var port: UInt16?

    @Option(value: "PORT", help: "The port of the REST API by HTTPS; 0: the last one, or a free one. Default: 17643.")
    var httpsPort: UInt16?

    @Option(value: "PORT", help: "The broker's plain port; 0: the last one, or a free one. Default: 17683.")
    var mqttPort: UInt16?

    @Option(
        long: "mqtts-port", value: "PORT",
        help: "The broker's TLS port; 0: the last one, or a free one. Default: 17684.")
    var mqttTLSPort: UInt16?

    @Option(
        long: "ws-port", value: "PORT",
        help: "The port for MQTT over WebSocket; 0: the last one, or a free one. Default: 17685.")
    var webSocketPort: UInt16?

    @Option(
        long: "wss-port", value: "PORT",
        help: "The port for MQTT over WebSocket and TLS; 0: the last one, or a free one. Default: 17686.")
    var webSocketTLSPort: UInt16?

    @Option(
        value: "DIR", help: "Keep the state in this directory. Default: emulator, beside the profiles.",
        completion: .directory)
    var directory: String?

    @Flag(help: "Begin with nothing, and remove everything at the end.") var temporary = false

    @Flag(help: "Refuse what Kii's documentation forbids, also where its servers are known to be lenient.")
    var strict = false

    @Option(value: "TIME", help: "How long an installation's MQTT endpoint is not ready (503) at first.")
    var endpointDelay: TimeSpan?

    @Option(long: "mqtt-ttl", value: "TIME", help: "How long an MQTT endpoint lasts. Default: for ever.")
    var mqttTTL: TimeSpan?

    @Option(value: "TIME", help: "How long a token lasts unless the login says so. Default: for ever.")
    var tokenLifetime: TimeSpan?

    @Flag(help: "Log in without refresh tokens.") var noRefreshTokens = false

    @Option(
        value: "FILE", help: "Play the faults of this script, with --proxy; '-' reads it from standard input.",
        completion: .file)
    var script: String?

    @Flag(help: "Have a proxy before the broker's plain port, for faults of packets.") var proxy = false
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try self.exclude("temporary", "directory") }

    func run() async throws {
        let console = self.output.console
        let file = FilePaths.emulatorFile()
        let configuration = try self.configuration(runtimeFile: file)
        if let other = try EmulatorRuntimeFile.find(at: file), let processID = other.process?.processID {
            throw CommandFailure(
                .temporary, "an emulator is running already, as process \(processID), at \(other.app.baseURL)",
                hint: "use it, or stop it: kill \(processID)")
        }
        // Signals are caught before the start, so that an interrupted start cleans up.
        let signals = try StopSignals.ofCommand()
        let emulator = try await self.start(configuration)
        do {
            try Self.announce(emulator, file: file, on: console)
            try await StandardStream.output.written()
        } catch SilentExit.unreadOutput {
            // An output that nobody reads does not stop the emulator. Any other error does.
        } catch {
            await emulator.stop()
            throw error
        }
        let view = console.quiet ? nil : try EmulatorView(emulator, on: console)
        let number = await signals.next()
        await emulator.stop()
        if await view?.hasEnded(within: .seconds(1)) ?? true { console.status("stopped") }
        throw SilentExit.status(number.map(ExitStatus.afterStop) ?? .success)
    }

    /// Replaces a default port by a free port if another process has taken the port since the configuration was made.
    private func start(_ configuration: Emulator.Configuration) async throws -> Emulator {
        var configuration = configuration
        while true {
            do {
                return try await Emulator.start(configuration)
            } catch let error as EmulatorError {
                guard case .portInUse(let taken) = error.code, taken != 0, !self.asksFor(taken),
                    let port = self.ports.first(where: { configuration[keyPath: $0.place] == taken })
                else { throw CommandFailure(error.exit, error.description) }
                configuration[keyPath: port.place] = 0
            }
        }
    }

    private var ports: [(place: WritableKeyPath<Emulator.Configuration, UInt16>, asked: UInt16?, usual: UInt16)] {
        [
            (\.port, self.port, 17680), (\.httpsPort, self.httpsPort, 17643), (\.mqttPort, self.mqttPort, 17683),
            (\.mqttTLSPort, self.mqttTLSPort, 17684), (\.webSocketPort, self.webSocketPort, 17685),
            (\.webSocketTLSPort, self.webSocketTLSPort, 17686),
        ]
    }

    private func asksFor(_ port: UInt16) -> Bool { self.ports.contains { $0.asked == port } }

    private func configuration(runtimeFile: String) throws -> Emulator.Configuration {
        var configuration = Emulator.Configuration()
        for (place, asked, usual) in self.ports {
            configuration[keyPath: place] = asked ?? (!self.asksFor(usual) && Emulator.isFree(usual) ? usual : 0)
        }
        if !self.temporary {
            configuration.directory = try self.directory ?? FilePaths().emulatorState
        }
        configuration.strict = self.strict
        configuration.endpointDelay = self.endpointDelay?.duration ?? .zero
        configuration.mqttTTL = self.mqttTTL?.duration
        configuration.tokenLifetime = self.tokenLifetime?.duration
        configuration.refreshTokens = !self.noRefreshTokens
        configuration.faultScript = try self.script.map { try Self.faultScript($0) }
        configuration.faultProxy = self.proxy || self.script != nil
        configuration.runtimeFile = runtimeFile
        configuration.explain = { PayloadExplanation.forPage($0) }
        return configuration
    }

    private static func faultScript(_ path: String) throws -> FaultScript {
        let text = String(decoding: try InputFile.read(path), as: UTF8.self)
        do throws(FaultScriptError) {
            return try FaultScript(parsing: text)
        } catch {
            let name = path == "-" ? "standard input" : path
            throw CommandFailure(.usage, "\(name):\(error.line):\(error.column): \(error.message)")
        }
    }

    private static func announce(_ emulator: Emulator, file: String, on console: Console) throws {
        try console.line("> Ready. \(emulator.baseURL), app \(emulator.appID)   ^C to stop")
        try console.line("  \(emulator.httpsBaseURL ?? "no HTTPS: libmicrohttpd was built without TLS here")")
        try console.line("  MQTT on 127.0.0.1:\(emulator.mqttPort), with TLS on 127.0.0.1:\(emulator.mqttTLSPort)")
        try console.line(
            "  over WebSocket: ws://127.0.0.1:\(emulator.webSocketPort)/mqtt, "
                + "wss://127.0.0.1:\(emulator.webSocketTLSPort)/mqtt")
        try console.line("  Inspector: \(emulator.inspectorURL)")
        try console.line("  keys and certificate: \(file)")
        try console.object(
            "emulator",
            [
                "baseURL": emulator.baseURL, "httpsBaseURL": emulator.httpsBaseURL, "appID": emulator.appID,
                "mqttPort": Int(emulator.mqttPort), "mqttTLSPort": Int(emulator.mqttTLSPort),
                "webSocketPort": Int(emulator.webSocketPort), "webSocketTLSPort": Int(emulator.webSocketTLSPort),
                "file": file,
                "inspector": emulator.inspectorURL,
            ])
    }
}

extension EmulatorError {
    fileprivate var exit: ExitStatus {
        switch self.code {
        case .directoryInUse, .portInUse: .temporary
        case .programNotFound, .brokerFailed, .certificatesFailed, .httpsUnavailable: .unreachable
        case .stateUnusable: .inputOutput
        case .system where self.isShortage: .temporary
        case .system: .cannotCreate
        }
    }
}

@main
enum Program {
    static func main() async { await EmulatorCommand.main() }
}
