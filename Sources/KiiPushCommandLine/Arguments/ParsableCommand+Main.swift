import Glibc
import KiiPushCore

extension ParsableCommand {
    package static func main() async {
        StandardStream.reserveDescriptors()
        // If SIGPIPE is ignored, a write to a closed pipe returns an error instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        // The parent may have ignored SIGCHLD. This process would then get no exit status of its children.
        signal(SIGCHLD, SIG_DFL)
        // The variable names the descriptor from which an ``Activator``'s program reads its messages. If that program
        // has started this process, this process must not read them.
        unsetenv(MessageFeed.launchVariable)
        Self.actAsInit()
        let words = Array(CommandLine.arguments.dropFirst())
        exit(await Self.status(of: words).rawValue)
    }

    private static func actAsInit() {
        guard OwnChildren.mayBeOrphans else { return }
        // Without the thread that reaps orphans, they stay zombies. Commands work all the same.
        try? OwnChildren.reapOrphans()
        guard getpid() == 1 else { return }
        // The kernel drops these signals if process 1 does not handle them. They would then not end a command.
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
        }
        return status
    }

    private static func statusOfCommand(_ words: [String]) async -> ExitStatus {
        do {
            switch try CommandLineParser(root: Self.self, width: StandardStream.output.textWidth()).parse(words) {
            case .show(let text): try StandardStream.output.write(text)
            case .run(let command):
                try Self.checkDescriptorLimit()
                try await command.run()
            case .pass(let program, let words):
                try Self.checkDescriptorLimit()
                try program.run(words)
            }
            return .success
        } catch let exit as SilentExit {
            return exit.status
        } catch {
            return Self.report(error, words)
        }
    }

    /// - Throws: ``CommandFailure`` with exit 75 if the limit of open files is too low.
    private static func checkDescriptorLimit() throws {
        // The fewest with which a command runs. Swift's runtime ends the process if it gets none for waiting or sleeping.
        let least: rlim_t = 64
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < least else {
            return
        }
        throw CommandFailure(
            .temporary, "it may have \(limit.rlim_cur) files open, and needs \(least)",
            hint: "raise the limit: 'ulimit -n 1024', LimitNOFILE= in a unit, '--ulimit nofile=1024' of a container")
    }

    @discardableResult
    private static func report(_ error: any Error, _ words: [String]) -> ExitStatus {
        var failure = CommandFailure(describing: error)
        if failure.helpPath != nil, let hint = Self.hint(words) { failure.hint = hint }
        let options = words.prefix { $0 != "--" }
        failure.report(
            of: Self.configuration.commandName, asJSON: options.contains("--json"),
            isVerbose: options.contains { $0 == "-v" || $0 == "--verbose" })
        return failure.exit
    }

    private static func hint(_ words: [String]) -> String? {
        guard let elsewhere = Self.configuration.elsewhere else { return nil }
        let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
        let names = words.prefix(1) + options.map(String.init)
        return names.first(where: elsewhere.words.contains).map { "'\($0)' is of \(elsewhere.program)" }
    }
}
