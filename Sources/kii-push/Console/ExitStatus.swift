/// How the process ends. The numbers are those of sysexits.h, of timeout(1) and of the shell.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    case failure = 1
    case usage = 64
    case badInput = 65
    case missingInput = 66
    case unreachable = 69
    case internalError = 70
    case cannotCreate = 73
    case inputOutput = 74
    case temporary = 75
    case protocolError = 76
    case authentication = 77
    case configuration = 78
    case timedOut = 124
    case interrupted = 130
    case terminated = 143

    /// What it tells, for help.
    var meaning: String {
        switch self {
        case .success: "Done."
        case .failure: "Failed for another reason, or perhaps done all the same; the message says."
        case .usage: "The command line is wrong."
        case .badInput: "The payload or data is not what it should be."
        case .missingInput: "The input file, or the message that was asked for, is not there."
        case .unreachable: "The cloud, the broker or the emulator cannot be reached."
        case .internalError: "A defect of kii-push."
        case .cannotCreate: "A file or directory cannot be created."
        case .inputOutput: "Reading or writing failed, for instance because the disk is full."
        case .temporary: "Not now: busy, rate-limited, or held by another process. Try again."
        case .protocolError: "The cloud or the broker refused, or answered against the protocol."
        case .authentication: "Credentials or rights were refused."
        case .configuration: "The configuration is missing, wrong, or a file of secrets is open to others."
        case .timedOut: "Time ran out before what was waited for came about."
        case .interrupted: "Interrupted by ^C."
        case .terminated: "Ended at once by a second SIGTERM. What ran then is handled again."
        }
    }

    /// A word for `--json` errors.
    var category: String {
        switch self {
        case .success: "none"
        case .failure: "failure"
        case .usage: "usage"
        case .badInput: "input"
        case .missingInput: "missing-input"
        case .unreachable: "unreachable"
        case .internalError: "internal"
        case .cannotCreate: "cannot-create"
        case .inputOutput: "io"
        case .temporary: "temporary"
        case .protocolError: "protocol"
        case .authentication: "auth"
        case .configuration: "configuration"
        case .timedOut: "timeout"
        case .interrupted: "interrupted"
        case .terminated: "terminated"
        }
    }
}
