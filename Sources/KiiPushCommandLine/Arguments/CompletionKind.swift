package enum CompletionKind: Equatable, Sendable {
    case none
    case words([String])
    case file
    case directory
    case program
    case asked(CompletionQuestion)
}

package enum CompletionQuestion: Sendable { case profiles, messages, deadLetters, pages }
