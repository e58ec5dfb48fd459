/// A command as text: the value of `--exec`, or of `exec` in config.json.
///
/// Without a shell, white space separates words. Single and double quotes keep white space in a word. Outside single
/// quotes, a backslash makes the next character literal. Variables, patterns and pipes are not supported.
struct CommandText: ExpressibleByArgument, Sendable, Hashable {
    let text: String

    init?(argument: String) {
        guard argument.contains(where: { !$0.isWhitespace }) else { return nil }
        self.text = argument
    }

    static var expectation: String { "a command" }

    /// The words; `nil` for an open quote or a backslash at the end.
    var words: [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in self.text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        return words + (word.map { [$0] } ?? [])
    }
}
