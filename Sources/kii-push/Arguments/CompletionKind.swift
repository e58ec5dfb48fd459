/// What the shell may offer for a value.
enum CompletionKind: Equatable, Sendable {
    /// Nothing: what fits is known to nobody here.
    case none
    /// One of these.
    case words([String])
    case file
    case directory
    /// A program along the PATH, or a file.
    case program
    /// What only the tool itself can tell, at the time.
    case asked(CompletionQuestion)

    /// For programs.
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

/// What `kii-push complete` can be asked for.
enum CompletionQuestion: String, CaseIterable, Sendable {
    /// The profiles that there are.
    case profiles
    /// The numbers of the messages in the profile's inbox.
    case messages
    /// Those of the messages that were given up on.
    case deadLetters = "dead-letters"
    /// The commands and topics that `help` has a page for.
    case pages
}
