import KiiPushCommandLine
import KiiPushCore

struct InboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Has messages tried again now, wherever they stand.",
        examples: [
            ("One", "kii-push inbox retry 17"), ("All dead letters", "kii-push inbox retry --all"),
        ],
        discussion: [
            "A message that waits for its next attempt does not wait any longer. A dead letter, or one that is done, is handled "
                + "as if it had just been received. One whose handler runs is left to it (exit 75).",
            "What receives with the inbox handles them at once; where nothing does, the next 'kii-push listen' or 'run' of "
                + "the profile.",
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary], environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages") var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change(.retry, { try await $0.retry($1) }, { try $0.retry($1) })
    }
}

struct InboxDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Removes messages for good, wherever they stand.",
        examples: [
            ("One", "kii-push inbox drop 17"), ("All dead letters", "kii-push inbox drop --all"),
        ],
        discussion: [
            "They count as dropped from then on; of one that is done only the record goes. One whose handler runs is left to it "
                + "(exit 75)."
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary], environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages") var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change(.drop, { try await $0.drop($1) }, { try $0.drop($1) })
    }
}

struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var chosen: ChosenMessages
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions

    /// Applies the decision to each message, through the process that receives with the inbox. If no process receives,
    /// this command changes the inbox itself.
    func change(
        _ decision: PushRuntime.Decision, _ change: (PushRuntime, Int64) async throws -> MessageDecision,
        _ remoteChange: (ControlClient, Int64) throws -> MessageDecision
    ) async throws {
        let directory = try self.inbox.directory()
        // Throws if there is no inbox. Without this line the command would create an empty inbox.
        let reader = try InboxReader(stateDirectory: directory)
        var numbers = self.chosen.numbers.map(\.value)
        if self.chosen.all { try reader.forEach([.dead]) { numbers.append($0.messageID) } }
        var report = DecisionReport(decision, on: self.output.console)
        if let client = try ControlClient(stateDirectory: directory) {
            for id in numbers { try report.note(try remoteChange(client, id), of: id) }
        } else {
            report = try await self.inbox.withRuntime(directory) { [report, numbers] runtime in
                var report = report
                for id in numbers { try report.note(try await change(runtime, id), of: id) }
                return report
            }
        }
        try report.end(list: "kii-push inbox list\(self.inbox.option)")
    }
}
