struct ArgumentParser {
    private let commandPath: String
    private let named: [BoundArgument]
    private let positionals: [BoundArgument]
    private var words: ArraySlice<String>
    private var nextPositional = 0

    init(_ arguments: [BoundArgument], words: ArraySlice<String>, commandPath: String) {
        (self.commandPath, self.words) = (commandPath, words)
        self.named = arguments.filter { !$0.definition.isPositional }
        self.positionals = arguments.filter(\.definition.isPositional)
    }

    mutating func parse() throws(CommandFailure) {
        var onlyPositionals = false
        while let word = self.words.popFirst() {
            if onlyPositionals || !word.hasPrefix("-") || word == "-" {
                try self.takePositional(word)
            } else if word == "--" {
                onlyPositionals = true
            } else if word.hasPrefix("--") {
                try self.takeLong(word)
            } else {
                try self.takeShortCluster(word)
            }
        }
        for argument in self.named + self.positionals
        where argument.definition.isRequired && !argument.box.isGiven {
            throw self.problem("missing argument '\(argument.definition.label)'")
        }
    }

    private mutating func takePositional(_ word: String) throws(CommandFailure) {
        guard self.nextPositional < self.positionals.count else { throw self.problem("unexpected argument '\(word)'") }
        let argument = self.positionals[self.nextPositional]
        if !argument.definition.isRepeating { self.nextPositional += 1 }
        try self.give(word, to: argument)
    }

    private mutating func takeLong(_ word: String) throws(CommandFailure) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        guard let argument = self.named.first(where: { $0.definition.long == name }) else {
            throw self.unknownOption("--\(name)")
        }
        try self.take(argument, attached: parts.count == 2 ? String(parts[1]) : nil)
    }

    private mutating func takeShortCluster(_ word: String) throws(CommandFailure) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let argument = self.named.first(where: { $0.definition.short == letter }) else {
                throw self.unknownOption("-\(letter)")
            }
            guard argument.definition.kind != .flag else {
                try self.take(argument, attached: nil)
                continue
            }
            let attached = letters.first == "=" ? letters.dropFirst() : letters
            return try self.take(argument, attached: letters.isEmpty ? nil : String(attached))
        }
    }

    private mutating func take(_ argument: BoundArgument, attached: String?) throws(CommandFailure) {
        if argument.definition.kind == .flag {
            guard attached == nil else { throw self.problem("'\(argument.definition.label)' takes no value") }
            _ = argument.box.take(nil)
        } else if let attached {
            try self.give(attached, to: argument)
        } else if let bare = argument.definition.bareText {
            // An optional value: the next word is the option's value only if it is valid.
            if let next = self.words.first, argument.box.take(next) == nil {
                self.words.removeFirst()
            } else {
                try self.give(bare, to: argument)
            }
        } else if let next = self.words.first, next == "-" || !next.hasPrefix("-") {
            self.words.removeFirst()
            try self.give(next, to: argument)
        } else {
            throw self.missingValue(argument)
        }
    }

    private func give(_ text: String, to argument: BoundArgument) throws(CommandFailure) {
        guard let problem = argument.box.take(text) else { return }
        throw self.problem("the value '\(text)' is invalid for '\(argument.definition.label)': \(problem)")
    }

    private func missingValue(_ argument: BoundArgument) -> CommandFailure {
        var message = "missing value for '\(argument.definition.label)'"
        if let next = self.words.first, let long = argument.definition.long {
            message += " (a value that starts with '-' is written --\(long)=\(next))"
        }
        return self.problem(message)
    }

    private func unknownOption(_ name: String) -> CommandFailure {
        let names = self.named.compactMap(\.definition.long).map { "--\($0)" } + ["--help"]
        let guess = name.hasPrefix("--") ? suggestion(for: name, among: names) : nil
        return self.problem("unknown option '\(name)'" + (guess.map { "; did you mean '\($0)'?" } ?? ""))
    }

    private func problem(_ message: String) -> CommandFailure {
        CommandFailure(.usage, message, helpPath: self.commandPath)
    }
}
