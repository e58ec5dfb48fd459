import Glibc
import KiiPushCore

/// The tool: its commands, and how a run of one ends.
package struct KiiPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kii-push",
        abstract: "Receives, sends and looks into Kii-style push messages on Linux.",
        examples: [
            ("A cloud on this machine; every other command finds it", "kii-push emulator &"),
            ("Get ready to receive, then subscribe to a topic", "kii-push register && kii-push subscribe alerts"),
            ("Send to the topic", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            ("Show what arrives, what it means, and what the handler answered", "kii-push listen"),
            ("What does this payload mean?", "kii-push explain payload.json"),
        ],
        subcommands: [
            EmulatorCommand.self, RegisterCommand.self, ConfigCommand.self, SubscribeCommand.self,
            UnsubscribeCommand.self, SubscriptionsCommand.self, ListenCommand.self, RunCommand.self,
            InstallUnitCommand.self, SendCommand.self, InboxCommand.self, TraceCommand.self, ReplayCommand.self,
            ExplainCommand.self, DoctorCommand.self, HelpCommand.self, CompleteCommand.self,
        ] + Self.ofFleet,
        groups: [
            ("Get ready", ["emulator", "register", "config"]),
            ("Subscriptions", ["subscribe", "unsubscribe", "subscriptions"]),
            ("Receive and send", ["listen", "run", "install-unit", "send"]),
            ("Many machines", Self.ofFleet.map { $0.configuration.commandName }),
            ("Find out", ["inbox", "trace", "replay", "explain", "doctor"]),
            ("Help", ["help"]),
        ],
        version: UserAgent.version
    )

    /// The commands that need PostgreSQL.
    #if Postgres
    private static let ofFleet: [any ParsableCommand.Type] = [FleetCommand.self, StoreCommand.self]
    #else
    private static let ofFleet: [any ParsableCommand.Type] = []
    #endif

    package static func main() async {
        StandardStream.reserveDescriptors()
        // A reader that goes away is met where the writing is done, not by dying in the middle of something.
        signal(SIGPIPE, SIG_IGN)
        // Whoever started the tool may have SIGCHLD ignored, and then nobody learns how a program ended.
        signal(SIGCHLD, SIG_DFL)
        // A program that was started for a push may use the tool; the messages are for the program.
        unsetenv("KII_PUSH_LAUNCH_FD")
        Self.actAsFirstProcess()
        let words = Array(CommandLine.arguments.dropFirst())
        exit(await Self.status(of: words).rawValue)
    }

    /// Does the duties of the first process of a container, or of a subreaper.
    private static func actAsFirstProcess() {
        guard OwnChildren.mayBeOrphans else { return }
        // Without a thread they stay zombies, and all else goes on.
        try? OwnChildren.reapOthers()
        guard getpid() == 1 else { return }
        // The kernel gives it no signal that it does not handle, so that nobody could end a command that handles none.
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number) { _exit(128 + $0) } }
    }

    private static func status(of words: [String]) async -> ExitStatus {
        let status = await Self.statusOfCommand(words)
        do {
            try await StandardStream.finish()
        } catch let failure as CommandFailure where status == .success {
            Self.report(failure, words)
            try? await StandardStream.finish()
            return failure.exit
        } catch {
            // Nobody reads the output any more.
        }
        return status
    }

    private static func statusOfCommand(_ words: [String]) async -> ExitStatus {
        do {
            switch try CommandLineParser(root: Self.self, width: StandardStream.output.textWidth()).parse(words) {
            case .show(let text): try StandardStream.output.write(text)
            case .run(let command):
                try DescriptorLimit.check()
                try await command.run()
            }
            return .success
        } catch let exit as SilentExit {
            return exit.status
        } catch is BrokenPipe {
            return .success
        } catch {
            return Self.report(error, words)
        }
    }

    @discardableResult
    private static func report(_ error: any Error, _ words: [String]) -> ExitStatus {
        let report = FailureReport(error)
        let options = words.prefix { $0 != "--" }
        report.write(
            asJSON: options.contains("--json"), isVerbose: options.contains { $0 == "-v" || $0 == "--verbose" })
        return report.failure.exit
    }
}
