import KiiPushCore

/// What the scripts of `completion` ask: the values of one kind, one a line. It says nothing rather than to fail: there is
/// nobody to tell while somebody is typing.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Prints what may be offered for a value. For the scripts of 'kii-push completion'.",
        isHidden: true,
        environment: [.profile, .stateHome, .stateDirectory]
    )

    private static let maximumCount = 500

    @Argument(value: "KIND", help: "What kind of value.") var kind: String

    @Argument(value: "WORD", help: "After '--', the words of the line before the one to complete.")
    var words: [String] = []

    func run() async throws {
        guard let question = CompletionQuestion(rawValue: self.kind) else { return }
        let answers =
            switch question {
            case .profiles: (try? Self.profiles()) ?? []
            case .messages: (try? self.messages(Set(MessageRecord.Standing.allCases))) ?? []
            case .deadLetters: (try? self.messages([.dead])) ?? []
            case .pages: self.pages
            }
        try? StandardStream.output.write(answers.map { $0 + "\n" }.joined())
    }

    private static func profiles() throws -> [String] {
        let directory = try FilePaths().profiles
        return (Directory.names(in: directory) ?? []).filter { ProfileLocation.isValid($0) }.sorted()
    }

    /// What is not done yet comes before what is, where there are too many.
    private func messages(_ standings: Set<MessageRecord.Standing>) throws -> [String] {
        let directory =
            try self.value(of: "--state-directory", nil)
            ?? ProfileLocation(named: self.value(of: "--profile", "-p")).directory
        let reader = try InboxReader(stateDirectory: directory)
        var messages = try reader.messages(standings.subtracting([.done]), limit: Self.maximumCount)
        if standings.contains(.done), messages.count < Self.maximumCount {
            messages += try reader.messages([.done], limit: Self.maximumCount - messages.count)
        }
        return messages.map(\.messageID).sorted().map(String.init)
    }

    private var pages: [String] {
        let words = self.words.drop { $0 != "help" }.dropFirst().filter { !$0.hasPrefix("-") }
        return HelpPage.next(after: Array(words), of: CommandDescription(KiiPushCommand.self))
    }

    /// What the line says for an option already: `--profile NAME`, `--profile=NAME`, `-p NAME`, `-pNAME`.
    private func value(of long: String, _ short: String?) -> String? {
        var value: String?
        for (index, word) in self.words.enumerated() {
            let next = index + 1 < self.words.count ? self.words[index + 1] : nil
            if word == long || word == short {
                value = next ?? value
            } else if word.hasPrefix("\(long)=") {
                value = String(word.dropFirst(long.count + 1))
            } else if let short, word.hasPrefix(short) {
                value = String(word.dropFirst(short.count))
            }
        }
        return value
    }
}
