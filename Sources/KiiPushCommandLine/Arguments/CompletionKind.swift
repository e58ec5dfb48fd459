/// The candidates that a shell offers for a value.
package enum CompletionKind: Equatable, Sendable {
    case none
    case words([String])
    case file
    case directory
    /// A program along the PATH, or a file.
    case program
    /// Candidates that only the tool can list, at the moment of completion.
    case asked(CompletionQuestion)
}

package enum CompletionQuestion: Sendable { case profiles, messages, deadLetters, pages }
