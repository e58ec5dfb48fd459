import KiiPushCore

struct InboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Has dead letters tried again, as if they had just been received.",
        examples: [
            .init("One", "kii-push inbox retry 17"), .init("All of them", "kii-push inbox retry --all"),
        ],
        discussion: [
            "What receives with the inbox handles them at once; where nothing does, the next 'kii-push listen' or 'run' of "
                + "the profile."
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary],
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages")
    var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change("retried", { try await $0.retryDeadLetter($1) }, { try $0.retryDeadLetter($1) })
    }
}

struct InboxDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Removes dead letters for good.",
        examples: [
            .init("One", "kii-push inbox drop 17"), .init("All of them", "kii-push inbox drop --all"),
        ],
        discussion: [
            "They count as expired from then on."
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary],
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages")
    var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change("dropped", { try await $0.dropDeadLetter($1) }, { try $0.dropDeadLetter($1) })
    }
}

/// Which dead letters, and whose.
struct DeadLetterOptions: ParsableArguments {
    @Argument(value: "ID", help: "The messages' numbers in the inbox.", completion: .asked(.deadLetters))
    var numbers: [MessageNumber] = []

    @Flag(help: "All dead letters.")
    var all = false

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Inbox")
    var inbox: InboxOptions

    func validate() throws {
        if self.all != self.numbers.isEmpty {
            throw ValidationError(
                self.all ? "'--all' and numbers exclude each other" : "name the messages, or all with '--all'")
        }
    }

    /// Does something to each of them: by the process that receives with the inbox, or where there is none, here.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 for a number that is no dead letter's, when the others are done.
    func change(
        _ word: String, _ change: (PushRuntime, Int64) async throws -> Bool,
        _ remoteChange: (ControlClient, Int64) throws -> Bool
    ) async throws {
        let directory = try self.inbox.directory()
        // Where there is none, none is made.
        let reader = try InboxReader(stateDirectory: directory)
        let numbers = try self.all ? Self.deadLetters(reader) : self.numbers.map(\.value)
        if let client = try ControlClient(stateDirectory: directory) {
            return try await self.change(numbers, word) { try remoteChange(client, $0) }
        }
        var settings = PushRuntime.Configuration()
        settings.stateDirectory = directory
        let runtime = try PushRuntime(configuration: settings)
        do {
            try await self.change(numbers, word) { try await change(runtime, $0) }
        } catch {
            await runtime.shutdown()
            throw Self.advising(error)
        }
        await runtime.shutdown()
    }

    private func change(_ numbers: [Int64], _ word: String, _ body: (Int64) async throws -> Bool) async throws {
        let console = self.output.console
        var refused: [Int64] = []
        for id in numbers {
            guard try await body(id) else {
                refused.append(id)
                continue
            }
            try console.result("\(word) #\(id)")
            try console.object(word, [("id", JSONValue(id))])
        }
        guard let first = refused.first else { return }
        throw CommandFailure(
            .missingInput,
            refused.count == 1
                ? "#\(first) is no dead letter that could be \(word)"
                : "\(refused.map { "#\($0)" }.joined(separator: ", ")) are no dead letters that could be \(word)",
            hint: "run: kii-push inbox list --state dead")
    }

    private static func advising(_ error: any Error) -> any Error {
        guard case .stateDirectoryInUse(_, let processID)? = error as? PushAgentError else { return error }
        return CommandFailure(
            .temporary, "\(processID.map { "process \($0)" } ?? "another process") receives with this inbox",
            hint: "it has no control socket to ask it by; stop it first")
    }

    private static func deadLetters(_ reader: InboxReader) throws -> [Int64] {
        var all: [Int64] = []
        while let page = try Optional(reader.deadLetters(after: all.last ?? 0)), !page.isEmpty {
            all += page.map(\.messageID)
        }
        return all
    }
}
