/// What the shell may offer for a value.
enum CompletionKind: Equatable, Sendable {
    /// Nothing: what fits is known to nobody here.
    case none
    case words([String])
    case file
    case directory
    /// A program along the PATH, or a file.
    case program
    /// What only the tool itself can tell, at the time.
    case asked(CompletionQuestion)

    var name: String {
        switch self {
        case .none: "none"
        case .words: "words"
        case .file: "file"
        case .directory: "directory"
        case .program: "program"
        case .asked(let question): question.rawValue
        }
    }
}

enum CompletionQuestion: String, CaseIterable, Sendable {
    case profiles
    case messages
    case deadLetters = "dead-letters"
    case pages
}
