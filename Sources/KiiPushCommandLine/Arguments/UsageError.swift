/// A command line that says nothing that can be done: exit 64.
package struct UsageError: Error {
    package let message: String
    /// The command whose help to read, such as `kii-push send topic`.
    package let commandPath: String
    /// What to do, where there is more to say than to read that help.
    package let hint: String?

    package init(_ message: String, commandPath: String, hint: String? = nil) {
        (self.message, self.commandPath, self.hint) = (message, commandPath, hint)
    }
}

/// A problem between the values of one command, found by `validate()`; the parser adds the command's name.
package struct ValidationError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
