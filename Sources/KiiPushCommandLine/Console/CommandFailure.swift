package struct CommandFailure: Error {
    package var exit: ExitStatus
    package var message: String
    package var hint: String?
    /// The server's own code, such as `TOPIC_NOT_FOUND`.
    package var code: String?
    var httpStatus: Int?
    /// Whether the command may have taken effect. A repetition could then take effect twice.
    package var isInDoubt = false
    package var answer: String?
    /// The command whose help the user should read, such as `kii-push send topic`. Used for a wrong command line
    /// without other advice.
    var helpPath: String?

    package init(
        _ exit: ExitStatus, _ message: String, helpPath: String? = nil, hint: String? = nil, code: String? = nil,
        httpStatus: Int? = nil
    ) {
        (self.exit, self.message, self.helpPath, self.hint) = (exit, message, helpPath, hint)
        (self.code, self.httpStatus) = (code, httpStatus)
    }
}

/// Ends the command without an error report.
package enum SilentExit: Error {
    /// The command has already reported the result.
    case status(ExitStatus)
    /// The reader of standard output has closed it.
    case brokenPipe
    /// The reader has read nothing for a while, so the rest of the output is dropped.
    case unreadOutput

    var status: ExitStatus {
        switch self {
        case .status(let status): status
        case .brokenPipe: .success
        case .unreadOutput: .failure
        }
    }
}
