import KiiPushCommandLine
import KiiPushCore

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Hands recorded messages, or those of the inbox, to a command or server again.",
        examples: [
            ("What 'listen --record' wrote, to a command", "kii-push replay pushes.kpr --exec ./on-push"),
            ("At the pace at which it was received", "kii-push replay pushes.kpr --speed 1 -f 3000/push"),
            ("Would the dead letters be handled now?", "kii-push replay --dead --exec ./on-push"),
            ("One that the inbox holds, wherever it stands", "kii-push replay --message 17 --exec ./on-push"),
            ("What is in a recording?", "kii-push replay pushes.kpr"),
        ],
        discussion: [
            "It asks no network and changes no inbox: each message is handed over once, whatever comes of it. To have "
                + "messages tried again by what receives, and be done with them: kii-push inbox retry.",
            "Command and server are those of 'kii-push run'. Without one, the messages are only shown.",
        ],
        exitCodes: [
            .failure, .badInput, .missingInput, .cannotCreate, .inputOutput, .configuration, .interrupted, .terminated,
        ],
        environment: [.profile, .stateHome, .stateDirectory, .path]
    )

    @Argument(value: "FILE", help: "A recording; '-' reads it from standard input.", completion: .file)
    var file: String?

    @Flag(help: "The dead letters of the inbox instead of a recording.") var dead = false

    @Option(value: "ID", help: "A message of the inbox instead of a recording. May be repeated.")
    var message: [MessageNumber] = []

    @Option(
        value: "FACTOR",
        help: "How much faster than it was received: 1 keeps the pauses, 10 makes a tenth of them. Default: no pauses.")
    var speed: PositiveCount?

    @OptionGroup(title: "Handler") var handler: HandlerOptions
    @OptionGroup(title: "Filter") var filter: FilterOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions

    func validate() throws {
        try self.handler.validateAlone()
        if self.speed != nil, !self.handler.isGiven {
            throw CommandFailure(.usage, "'--speed' needs '--exec' or '--forward-to'")
        }
        let given = [
            ("a recording", self.file != nil), ("'--dead'", self.dead), ("'--message'", !self.message.isEmpty),
        ].filter(\.1).map(\.0)
        if given.isEmpty { throw CommandFailure(.usage, "name a recording, or '--dead', or '--message'") }
        if given.count > 1 { throw CommandFailure(.usage, "\(given[1]) and \(given[0]) exclude each other") }
    }

    func run() async throws {
        let console = self.output.console
        let messages = try self.messages(console)
        // No directory, because the files in the profile's directory belong to the process that receives.
        guard let outside = try self.handler.settings.outsideHandler(directory: nil, report: { _ in }) else {
            for message in messages { try console.show(message.received, message.context(attempt: 1)) }
            return
        }
        let replay = Replay(outside, console, speed: self.speed?.value, jobs: self.handler.jobs?.value ?? 1)
        let failures = try await replay.run(messages)
        console.status("\(messages.count) handed over, \(failures) of them failed")
        if failures > 0 { throw SilentExit.status(.failure) }
    }

    private func messages(_ console: Console) throws -> [ReplayedMessage] {
        let registration = (try? self.inbox.directory()).flatMap { try? PushAgent.registration(in: $0) }
        let filter = try self.filter.filter(for: registration?.principal)
        if let file = self.file {
            let recorded = try MessageRecording.read(file) { flaw in
                console.warning("\(flaw.message.terminalSafe); the line is left out")
            }
            return recorded.filter { filter.matches($0.received) }
        }
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        var messages: [ReplayedMessage] = []
        if self.dead {
            try reader.forEach([.dead]) { trace in
                if let message = ReplayedMessage(trace), filter.matches(message.received) { messages.append(message) }
            }
        }
        for number in self.message {
            guard let message = ReplayedMessage(try reader.trace(of: number.value)) else {
                throw CommandFailure(
                    .badInput, "#\(number.value) is no whole push message, and 'replay' hands over nothing else",
                    hint: "run: kii-push trace --payload \(number.value)\(self.inbox.option)")
            }
            if filter.matches(message.received) { messages.append(message) }
        }
        return messages
    }
}

extension ReplayedMessage {
    /// `nil` if the record's payload is no push message, or was cut short.
    init?(_ trace: MessageRecord) {
        guard trace.originalLength == nil, let received = try? ReceivedMessage(payload: trace.payload) else {
            return nil
        }
        self.init(id: trace.messageID, receivedAt: trace.receivedAt, received: received)
    }
}
