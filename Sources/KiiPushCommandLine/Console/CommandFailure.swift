/// A failure in the words of the command line: what failed, what to do about it, and the exit code.
package struct CommandFailure: Error {
    package var exit: ExitStatus
    package var message: String
    package var hint: String?
    /// The server's own code, such as `TOPIC_NOT_FOUND`.
    package var code: String?
    var httpStatus: Int?
    /// Whether the command may have taken effect, so that repeating it could do so twice.
    package var isInDoubt = false
    package var answer: String?

    package init(
        _ exit: ExitStatus, _ message: String, hint: String? = nil, code: String? = nil, httpStatus: Int? = nil
    ) {
        (self.exit, self.message, self.hint) = (exit, message, hint)
        (self.code, self.httpStatus) = (code, httpStatus)
    }
}

/// Ends the command with a status that is no failure to report, after its own output said what there was to say.
package struct SilentExit: Error {
    package let status: ExitStatus

    package init(status: ExitStatus) { self.status = status }
}
