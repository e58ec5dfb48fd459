import Glibc
import KiiPushCore

/// A program: it runs the command that its words name, and ends with a status.
extension ParsableCommand {
    /// Runs the process's words as this command or one below it, and ends the process.
    package static func main() async {
        StandardStream.reserveDescriptors()
        // A write to a closed pipe returns an error where it happens, instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        // The parent may have SIGCHLD ignored; no exit status of a child would then reach this process.
        signal(SIGCHLD, SIG_DFL)
        // A launched program may run this one; the messages on the descriptor are for that program alone.
        unsetenv(MessageFeed.launchVariable)
        Self.actAsFirstProcess()
        let words = Array(CommandLine.arguments.dropFirst())
        exit(await Self.status(of: words).rawValue)
    }

    /// Does the duties of the first process of a container, or of a subreaper.
    private static func actAsFirstProcess() {
        guard OwnChildren.mayBeOrphans else { return }
        // Without the thread, orphans stay zombies; everything else works.
        try? OwnChildren.reapOthers()
        guard getpid() == 1 else { return }
        // The kernel drops signals that process 1 does not handle, so nobody could end a command without handlers.
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
            case .pass(let program, let words):
                try DescriptorLimit.check()
                try program.run(words)
            }
            return .success
        } catch let exit as SilentExit {
            return exit.status
        } catch {
            return Self.report(error, words)
        }
    }

    @discardableResult
    private static func report(_ error: any Error, _ words: [String]) -> ExitStatus {
        var failure = CommandFailure(describing: error)
        if failure.helpPath != nil, let hint = Self.hint(words) { failure.hint = hint }
        let report = FailureReport(failure, of: Self.configuration.commandName)
        let options = words.prefix { $0 != "--" }
        report.write(
            asJSON: options.contains("--json"), isVerbose: options.contains { $0 == "-v" || $0 == "--verbose" })
        return report.failure.exit
    }

    /// A hint at the program that has a command or an option that this program lacks.
    private static func hint(_ words: [String]) -> String? {
        guard let elsewhere = Self.configuration.elsewhere else { return nil }
        let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
        let names = words.prefix(1) + options.map(String.init)
        return names.first(where: elsewhere.words.contains).map { "'\($0)' is of \(elsewhere.program)" }
    }
}
