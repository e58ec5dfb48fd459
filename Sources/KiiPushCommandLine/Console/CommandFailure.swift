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
    /// The command whose help to read, such as `kii-push send topic`; only for a wrong command line. A hint replaces it.
    var helpPath: String?

    package init(
        _ exit: ExitStatus, _ message: String, helpPath: String? = nil, hint: String? = nil, code: String? = nil,
        httpStatus: Int? = nil
    ) {
        (self.exit, self.message, self.helpPath, self.hint) = (exit, message, helpPath, hint)
        (self.code, self.httpStatus) = (code, httpStatus)
    }
}

/// Ends the command without a report.
package enum SilentExit: Error {
    /// The command's own output has said what there was to say.
    case status(ExitStatus)
    /// The reader of standard output is gone.
    case brokenPipe
    /// The command ends without writing the rest of its output, since the reader has read nothing for a while.
    case unreadOutput

    var status: ExitStatus {
        switch self {
        case .status(let status): status
        case .brokenPipe: .success
        case .unreadOutput: .failure
        }
    }
}
