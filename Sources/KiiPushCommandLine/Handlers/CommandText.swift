/// A command as text: one word of the command line, or a value in a file.
///
/// Without a shell, simple rules split the text. Blanks separate words. Everything between single quotes is literal.
/// Between double quotes, everything but a backslash is literal. A backslash makes the next character literal. There is
/// no expansion: no variables, no patterns, no pipes.
struct CommandText: ExpressibleByArgument, Sendable, Hashable {
    let text: String

    init?(argument: String) {
        guard argument.contains(where: { !$0.isWhitespace }) else { return nil }
        self.text = argument
    }

    static var expectation: String { "a command" }

    /// The words; `nil` where a quote is not closed, or a backslash has nothing after it.
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
