import KiiPushCore
import KiiPushPostgres

struct InboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Has messages tried again now, wherever they stand.",
        examples: [
            ("One", "kii-push inbox retry 17"), ("All dead letters", "kii-push inbox retry --all"),
        ]
            + CommandConfiguration.ofFleet(
                "Of a fleet", "kii-push inbox retry 65553 --store postgres://operator@db.example.org/kii"),
        discussion: [
            "A message that waits for its next attempt does not wait any longer. A dead letter, or one that is done, is handled "
                + "as if it had just been received. One whose handler runs is left to it (exit 75).",
            "What receives with the inbox handles them at once; where nothing does, the next 'kii-push listen' or 'run' of "
                + "the profile.",
        ]
            + CommandConfiguration.ofFleet(
                "Of a fleet the gateway that has the message does it within 3 s; where none has answered after 8 s, the "
                    + "command ends (exit 75), and the next gateway that has the message does it."),
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
        ]
            + CommandConfiguration.ofFleet(
                "Of a fleet", "kii-push inbox drop 65553 --store postgres://operator@db.example.org/kii"),
        discussion: [
            "They count as dropped from then on; of one that is done only the record goes. One whose handler runs is left to it "
                + "(exit 75)."
        ]
            + CommandConfiguration.ofFleet(
                "Of a fleet the gateway that has the message does it, as with 'kii-push inbox retry'."),
        exitCodes: InboxCommand.readingExitCodes + [.temporary], environment: InboxCommand.environment
    )

    @OptionGroup(title: "Messages") var letters: DeadLetterOptions

    func run() async throws {
        try await self.letters.change(.drop, { try await $0.drop($1) }, { try $0.drop($1) })
    }
}

struct DeadLetterOptions: ParsableArguments {
    @Argument(value: "ID", help: "The messages' numbers in the inbox.", completion: .asked(.deadLetters))
    var numbers: [MessageNumber] = []

    @Flag(help: "All dead letters.") var all = false
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions
    @OptionGroup(title: "Inbox") var store: FleetInboxOptions

    func validate() throws {
        try self.inbox.exclude(self.store)
        guard self.all != self.numbers.isEmpty else { return }
        throw ValidationError(
            self.all ? "'--all' and numbers exclude each other" : "name the messages, or all with '--all'")
    }

    /// Does something to each of them: by whatever receives with the inbox, or where there is none on this machine, here.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 for a number that is no message's, else with 75 for one whose handler runs,
    ///   or that no gateway has answered for, when the others are done.
    func change(
        _ decision: PushRuntime.Decision, _ change: (PushRuntime, Int64) async throws -> MessageDecision,
        _ remoteChange: (ControlClient, Int64) throws -> MessageDecision
    ) async throws {
        #if Postgres
        if let fleet = try self.store.fleet() { return try await self.ask(fleet, decision) }
        #endif
        let directory = try self.inbox.directory()
        // Where there is none, none is made.
        let reader = try InboxReader(stateDirectory: directory)
        let numbers = try self.all ? Self.deadLetters(reader) : self.numbers.map(\.value)
        var outcome = Outcome()
        if let client = try ControlClient(stateDirectory: directory) {
            for id in numbers { try self.note(try remoteChange(client, id), of: id, decision, &outcome) }
        } else {
            outcome = try await self.inbox.withRuntime(directory) { runtime in
                var outcome = Outcome()
                for id in numbers { try self.note(try await change(runtime, id), of: id, decision, &outcome) }
                return outcome
            }
        }
        try self.end(outcome, decision, list: "kii-push inbox list\(self.inbox.option)")
    }

    #if Postgres
    private func ask(_ fleet: Fleet, _ decision: PushRuntime.Decision) async throws {
        var rest = try await self.all ? fleet.deadLetters() : self.numbers.map(\.value)
        var outcome = Outcome()
        while !rest.isEmpty {
            let next = Array(rest.prefix(Fleet.requestsAtOnce))
            rest.removeFirst(next.count)
            // Where none answers, the others are asked for all the same.
            let patience: Duration = outcome.asked.isEmpty ? .seconds(8) : .zero
            let answers = try await fleet.decide(decision, next, patience: patience)
            for id in next { try self.note(answers[id], of: id, decision, &outcome) }
        }
        try self.end(outcome, decision, list: "kii-push inbox list --store …")
    }
    #endif

    private struct Outcome {
        var missing: [Int64] = []
        var running: [(id: Int64, age: Duration)] = []
        /// Those that no gateway has answered for.
        var asked: [Int64] = []
    }

    private func note(
        _ answer: MessageDecision?, of id: Int64, _ decision: PushRuntime.Decision, _ outcome: inout Outcome
    ) throws {
        switch answer {
        case .carriedOut:
            try self.output.console.result("\(decision.word) #\(id)")
            try self.output.console.object(decision.word, ["id": id])
        case .running(let age): outcome.running.append((id, age))
        case .notFound: outcome.missing.append(id)
        case nil: outcome.asked.append(id)
        }
    }

    private func end(_ outcome: Outcome, _ decision: PushRuntime.Decision, list: String) throws {
        if !outcome.missing.isEmpty {
            let them = outcome.missing.map { "#\($0)" }.joined(separator: ", ")
            throw CommandFailure(
                .missingInput,
                "\(them) cannot be \(decision.word): \(outcome.missing.count == 1 ? "it is" : "they are") not in the inbox"
                    + (decision == .retry ? ", or nobody knows for whom" : ""),
                hint: "run: \(list)")
        }
        if let first = outcome.running.first {
            throw CommandFailure(
                .temporary, "#\(first.id) is in hand: its handler has been at it for \(first.age.text)",
                hint: "try again when it has answered")
        }
        guard let first = outcome.asked.first else { return }
        let others = outcome.asked.count > 1 ? " and \(outcome.asked.count - 1) more are" : " is"
        throw CommandFailure(
            .temporary, "#\(first)\(others) asked for, but no gateway has answered",
            hint: "the next one that has the message does it")
    }

    private static func deadLetters(_ reader: InboxReader) throws -> [Int64] {
        var all: [Int64] = []
        while true {
            // An index names the dead letters, and a page is read in one moment.
            let page = try reader.deadLetters(after: all.last ?? 0)
            guard !page.isEmpty else { return all }
            all += page.map(\.messageID)
        }
    }
}

extension PushRuntime.Decision {
    fileprivate var word: String {
        switch self {
        case .retry: "retried"
        case .drop: "dropped"
        }
    }
}
