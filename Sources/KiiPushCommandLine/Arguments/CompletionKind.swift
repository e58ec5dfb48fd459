/// What the shell may offer for a value.
package enum CompletionKind: Equatable, Sendable {
    /// Nothing: what fits is known to nobody here.
    case none
    case words([String])
    case file
    case directory
    /// A program along the PATH, or a file.
    case program
    /// What only the tool itself can tell, at the time.
    case asked(CompletionQuestion)
}

package enum CompletionQuestion: Sendable { case profiles, messages, deadLetters, pages }
