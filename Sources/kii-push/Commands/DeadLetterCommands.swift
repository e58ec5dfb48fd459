import KiiPushCore

struct InboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Has dead letters tried again, as if they had just been received.",
        examples: [
            .init("One", "kii-push inbox retry 17"), .init("All of them", "kii-push inbox retry --all"),
        ],
        discussion: [
            "The next 'kii-push listen' or 'run' of the profile handles them. While a program receives with the inbox it "
                + "cannot be changed from outside."
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary],
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages")
    var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change("retried") { runtime, id in
            try await runtime.retryDeadLetter(id)
        }
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
            "They count as expired from then on. While a program receives with the inbox it cannot be changed from outside."
        ],
        exitCodes: InboxCommand.readingExitCodes + [.temporary],
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages")
    var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change("dropped") { runtime, id in
            try await runtime.dropDeadLetter(id)
        }
    }
}

/// Which dead letters, and whose.
struct DeadLetterOptions: ParsableArguments {
    @Argument(value: "ID", help: "The messages' numbers in the inbox.")
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

    /// Does something to each of them.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 for a number that is no dead letter's, when the others are done.
    func change(_ word: String, _ body: (PushRuntime, Int64) async throws -> Bool) async throws {
        let (console, directory) = (self.output.console, try self.inbox.directory())
        // Where there is none, none is made.
        let reader = try InboxReader(stateDirectory: directory)
        var refused: [Int64] = []
        var settings = PushRuntime.Configuration()
        settings.stateDirectory = directory
        let runtime = try PushRuntime(configuration: settings)
        do {
            for id in try self.all ? Self.deadLetters(reader) : self.numbers.map(\.value) {
                guard try await body(runtime, id) else {
                    refused.append(id)
                    continue
                }
                try console.line("\(word) #\(id)")
                try console.object(word, [("id", JSONValue(id))])
            }
        } catch {
            await runtime.shutdown()
            throw Self.advising(error)
        }
        await runtime.shutdown()
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
            hint: "nobody else can change it meanwhile; stop the process first")
    }

    private static func deadLetters(_ reader: InboxReader) throws -> [Int64] {
        var all: [Int64] = []
        while let page = try Optional(reader.deadLetters(after: all.last ?? 0)), !page.isEmpty {
            all += page.map(\.messageID)
        }
        return all
    }
}
