package import KiiPushActivation
import KiiPushCore

package struct HandlerOptions: ParsableArguments {
    package static let longest = Duration.seconds(30)

    @Option(
        short: "x", value: "COMMAND",
        help: "Run this for each message, the payload on its standard input."
    )
    var exec: CommandText?

    @Flag(help: "Have sh run COMMAND. Otherwise it is split into words at blanks; quotes and \\ work, nothing else.")
    var shell = false

    @Option(value: "TIME", help: "How long COMMAND has before it is killed, 30s at most. Default: 30s.")
    var execTimeout: TimeSpan?

    @Option(
        short: "f", value: "URL",
        help: "POST each message there: a URL, or 3000, 3000/path or /path on this machine."
    )
    var forwardTo: ForwardTarget?

    @Option(value: "TIME", help: "How long the server has for its answer, 30s at most. Default: 30s.")
    var forwardTimeout: TimeSpan?

    @Option(value: "N", help: "How many messages are handled at once. Default: 1.") package var jobs: HandlerCount?

    package init() {}

    package static func discussion(ofFleet: Bool, inbox: String) -> [String] {
        let (variable, field) = ofFleet ? ("KII_PUSH_AGENT, ", "Kii-Push-Agent, ") : ("", "")
        return [
            "A command answers by its exit status: 0 newData, 10 noData, 65 never again, 75 or any other failed. It finds "
                + "\(variable)KII_PUSH_ID, KII_PUSH_KIND, KII_PUSH_TOPIC or KII_PUSH_BUCKET, KII_PUSH_ATTEMPT, "
                + "KII_PUSH_DEADLINE (milliseconds since 1970) and KII_PUSH_PAYLOAD_FILE in its environment.",
            "A server answers by its HTTP status: 204 noData, any other 2xx newData; 400, 409, 410, 413, 415 and 422, and "
                + "any other 4xx with 'Kii-Push-Result: rejected', never again; any other or none failed. It gets "
                + "\(field)Kii-Push-Id, Kii-Push-Kind, Kii-Push-Topic or Kii-Push-Bucket, and Kii-Push-Attempt. With "
                + "Retry-After it is left alone until then, 5 min at most.",
            "What failed, was killed or did not answer within 30 s is tried again after 1 s, 5 s, 30 s, 5 min and 30 min; "
                + "then, as what was refused for good, it is kept for '\(inbox)'.",
        ]
    }

    package var isGiven: Bool { self.exec != nil || self.forwardTo != nil }

    package var settings: RunSettings { RunSettings(self) }

    /// Refuses options that contradict each other or lack a required option. For commands that do not read `run` in
    /// config.json.
    package func validateAlone() throws {
        if let problem = self.settings.problem({ "'\(RunSettings.option($0))'" }) {
            throw CommandFailure(.usage, problem)
        }
    }
}

extension RunSettings {
    /// Creates the handler for a command or a server; `nil` if the options name neither.
    ///
    /// - Parameters:
    ///   - directory: the profile's directory, for files that name the running processes. After a crash, the next run
    ///     of the command ends these processes. `nil` for no files.
    ///   - report: gets the events of the processes, on a thread that it must not block.
    /// - Throws: ``CommandFailure`` with exit 66 for a missing program; ``TransportError``.
    package func outsideHandler(
        directory: String?, report: @escaping @Sendable (Activator.Event) -> Void
    ) throws -> (any OutsideHandler)? {
        let options = self.options
        if let target = options.handler.forwardTo {
            let timeout = options.handler.forwardTimeout?.duration ?? HandlerOptions.longest
            return try ForwardHandler(target, timeout: timeout, userAgent: self.userAgent ?? UserAgent.ofTool) {
                guard let directory else { return }
                LeftoverPrograms.end(in: directory, beyond: 0, grace: nil, report: report)
            }
        }
        guard let command = options.handler.exec else { return nil }
        // The words after the shell's script: `kii-push` is $0, the arguments are $1 and so on.
        let shell = ["/bin/sh", "-c", command.text, "kii-push"]
        let words = (options.handler.shell ? shell : command.words ?? []) + options.arguments
        guard let program = words.first else { throw CommandFailure(.internalError, "the command has no words") }
        try ProgramLookup.require(program)
        return CommandHandler(
            words, name: options.handler.shell ? "sh" : program, options, directory: directory, report: report)
    }
}
