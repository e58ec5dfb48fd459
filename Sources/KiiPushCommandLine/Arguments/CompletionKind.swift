package enum CompletionKind: Equatable, Sendable {
    case none
    case words([String])
    case file
    case directory
    case program
    /// Candidates that the tool lists at the moment of completion.
    case asked(CompletionQuestion)
}

package enum CompletionQuestion: Sendable { case profiles, messages, deadLetters, pages }
