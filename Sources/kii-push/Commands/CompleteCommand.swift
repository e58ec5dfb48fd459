import KiiPushCommandLine
import KiiPushCore

/// Prints ``Completion/Answer/text`` for a shell's completion script. Errors print nothing: the user is typing.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Prints what may be at the end of a command line. For the completion scripts of shells.",
        isHidden: true,
        environment: [.profile, .stateHome, .stateDirectory]
    )

    private static let maximumCount = 500

    @Argument(
        value: "WORD", help: "After '--', the words behind the tool's name up to the cursor; the last may be empty.")
    var words: [String] = []

    func run() async throws {
        let answer = Completion(tool: CommandDescription(KiiPushCommand.self), ask: Self.answer).answer(self.words)
        guard case .program(let name, let words) = answer else {
            try? StandardStream.output.write(answer.text)
            return
        }
        try? OtherProgram(name: name).run(["complete", "--"] + words)
    }

    private static func answer(_ question: CompletionQuestion, _ words: [String]) -> [String] {
        switch question {
        case .profiles: (try? self.profiles()) ?? []
        case .messages: (try? self.messages(Set(MessageRecord.Standing.allCases), words)) ?? []
        case .deadLetters: (try? self.messages([.dead], words)) ?? []
        case .pages: self.pages(words)
        }
    }

    private static func profiles() throws -> [String] {
        let directory = try FilePaths().profiles
        return (Directory.names(in: directory) ?? []).filter { ProfileLocation.isValid($0) }.sorted()
    }

    private static func messages(_ standings: Set<MessageRecord.Standing>, _ words: [String]) throws -> [String] {
        let directory =
            try self.value(of: "--state-directory", nil, in: words)
            ?? ProfileLocation(named: self.value(of: "--profile", "-p", in: words)).directory
        let reader = try InboxReader(stateDirectory: directory)
        var messages = try reader.messages(standings.subtracting([.done]), limit: self.maximumCount)
        if standings.contains(.done), messages.count < self.maximumCount {
            messages += try reader.messages([.done], limit: self.maximumCount - messages.count)
        }
        return messages.map(\.messageID).sorted().map(String.init)
    }

    private static func pages(_ words: [String]) -> [String] {
        let pages = words.drop { $0 != "help" }.dropFirst().filter { !$0.hasPrefix("-") }
        return HelpPage.next(after: Array(pages), of: CommandDescription(KiiPushCommand.self))
    }

    private static func value(of long: String, _ short: String?, in words: [String]) -> String? {
        var value: String?
        for (index, word) in words.enumerated() {
            let next = index + 1 < words.count ? words[index + 1] : nil
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
