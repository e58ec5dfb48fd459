import KiiPushCommandLine
import KiiPushCore

struct InboxAdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Has the messages of a former installation handled.",
        examples: [("Those that 'kii-push doctor' names", "kii-push inbox adopt --from 1a2b3c")],
        discussion: [
            "A profile that is registered anew, or whose agents/default.json was lost, receives as another installation. What "
                + "the former one had received and no handler had finished stays in the inbox. If both are of the same user or "
                + "thing, the new one handles it by itself. Otherwise this says that it is to.",
            "What receives with the inbox handles the messages at once; where nothing does, the next 'kii-push listen' or "
                + "'run' of the profile.",
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary], environment: InboxCommand.environment
    )

    @Option(value: "ID", help: "The installation that has received the messages.") var from: String?

    @Option(
        value: "ID", help: "The installation that is to handle them. Default: the one that the profile receives as.")
    var to: String?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions

    func validate() throws {
        guard let from = self.from, !from.isEmpty else {
            throw CommandFailure(.usage, "name the former installation with '--from'")
        }
        if from == self.to { throw CommandFailure(.usage, "'--from' and '--to' name the same installation") }
    }

    func run() async throws {
        let former = self.from ?? ""
        let directory = try self.inbox.directory()
        // Throws if there is no inbox. Without this line the command would create an empty inbox.
        _ = try InboxReader(stateDirectory: directory)
        let installation = try self.to ?? Self.installation(of: directory)
        guard installation != former else {
            throw CommandFailure(.usage, "'--from' names the installation that is to handle the messages")
        }
        let count =
            if let client = try ControlClient(stateDirectory: directory) {
                try client.adopt(former, by: installation)
            } else {
                try await self.inbox.withRuntime(directory) { try await $0.adopt(former, by: installation) }
            }
        guard let count else {
            throw CommandFailure(
                .missingInput,
                "the inbox does not know installation '\(former.terminalSafe)'"
                    + (self.to.map { ", or not '\($0.terminalSafe)'" } ?? ""),
                hint: "'kii-push doctor' names those that have messages")
        }
        let console = self.output.console
        try console.result("adopted \(count.text(of: "message")) of \(former.terminalSafe)")
        try console.object("adopted", ["from": former, "messages": count])
    }

    private static func installation(of directory: String) throws -> String {
        guard let registration = try PushAgent.registration(in: directory) else {
            throw CommandFailure(
                .missingInput, "no agent named 'default' is registered in \(directory)",
                hint: "name the installation that is to handle the messages with --to")
        }
        return registration.installationID
    }
}
