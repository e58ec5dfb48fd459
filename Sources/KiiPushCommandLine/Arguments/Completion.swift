package struct Completion {
    package typealias Candidate = (word: String, description: String)

    package enum Answer {
        case candidates([Candidate])
        case shell(CompletionKind)
        /// The program that runs the command completes the words after the command's name.
        case program(name: String, words: [String])

        /// The answer to a shell's completion script: a line for each candidate, with a tab and its description if it
        /// has one. `:file`, `:directory` or `:program` tells the shell to complete such names itself.
        package var text: String {
            switch self {
            case .shell(let kind): ":\(kind)\n"
            case .candidates(let rows):
                rows.map { ($0.description.isEmpty ? $0.word : "\($0.word)\t\($0.description)") + "\n" }.joined()
            case .program: ""
            }
        }
    }

    package let tool: CommandDescription
    package let ask: (CompletionQuestion, [String]) -> [String]

    package init(tool: CommandDescription, ask: @escaping (CompletionQuestion, [String]) -> [String]) {
        self.tool = tool
        self.ask = ask
    }

    /// - Parameter words: the words after the tool's name. The last word is at the cursor, and may be empty.
    package func answer(_ words: [String]) -> Answer {
        let (before, current, isBroken, starts) = Self.joined(words)
        let (profile, behind) = CommandLineParser.leadingProfile(before[...])
        if before.count == 1, profile.count == 1, behind.isEmpty, !before[0].contains("=") {
            return self.values(.asked(.profiles), before, current)
        }
        if let word = behind.first, let program = self.tool.subcommand(word)?.configuration.program {
            return .program(name: program, words: Array(words[starts[profile.count]...].dropFirst()))
        }
        var command = self.tool
        var rest = behind
        while let word = rest.first, let next = command.subcommand(word) {
            command = next
            rest = rest.dropFirst()
        }
        let place = Place(rest, options: command.options)
        if let option = place.expecting { return self.values(option.completion, before, current) }
        if !place.isBehindOptions, current.hasPrefix("--"), let sign = current.firstIndex(of: "=") {
            let name = String(current[..<sign])
            guard let option = command.options.first(where: { $0.names.contains(name) }) else { return .candidates([]) }
            let value = String(current[current.index(after: sign)...])
            return self.values(option.completion, before, value, prefix: isBroken ? "" : name + "=")
        }
        if !place.isBehindOptions, current.hasPrefix("-") {
            let rows = command.options.flatMap { option in option.names.map { ($0, option.helpWithDefault) } }
            return .candidates(rows.filter { $0.0.hasPrefix(current) })
        }
        if command.isGroup {
            let rows = command.subcommands.map { ($0.name, $0.configuration.abstract) }
            return .candidates(place.positionals > 0 ? [] : rows.filter { $0.0.hasPrefix(current) })
        }
        let positionals = command.positionals
        let isBeyond = place.positionals >= positionals.count
        let repeating = positionals.last.flatMap { $0.isRepeating ? $0 : nil }
        guard let positional = isBeyond ? repeating : positionals[place.positionals] else { return .candidates([]) }
        return self.values(positional.completion, before, current)
    }

    private func values(
        _ completion: CompletionKind, _ before: [String], _ current: String, prefix: String = ""
    ) -> Answer {
        let words: [String]
        switch completion {
        case .none: words = []
        case .words(let known): words = known
        case .file, .directory, .program: return .shell(completion)
        case .asked(let question): words = self.ask(question, before)
        }
        return .candidates(words.filter { $0.hasPrefix(current) }.map { (prefix + $0, "") })
    }

    private static func joined(
        _ words: [String]
    ) -> (before: [String], current: String, isBroken: Bool, starts: [Int]) {
        var joined: [String] = []
        var starts: [Int] = []
        var isOpen = false
        var isBroken = false
        for (index, word) in words.enumerated() {
            let isSign = word == "=" && joined.last?.hasPrefix("--") == true && joined.last?.contains("=") == false
            isBroken = isSign || isOpen
            if isBroken {
                joined[joined.count - 1] += word
            } else {
                joined.append(word)
                starts.append(index)
            }
            isOpen = isSign
        }
        let current = joined.popLast() ?? ""
        return (joined, current, isBroken, starts)
    }

    private struct Place {
        var expecting: ArgumentDefinition?
        var isBehindOptions = false
        var positionals = 0

        init(_ words: ArraySlice<String>, options: [ArgumentDefinition]) {
            for word in words {
                if self.expecting != nil {
                    self.expecting = nil
                } else if self.isBehindOptions || !word.hasPrefix("-") || word == "-" {
                    self.positionals += 1
                } else if word == "--" {
                    self.isBehindOptions = true
                } else {
                    self.expecting = options.first { $0.needsValue && $0.names.contains(word) }
                }
            }
        }
    }
}
