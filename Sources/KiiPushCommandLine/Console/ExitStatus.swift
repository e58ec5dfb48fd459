import Glibc

/// The exit status of the process, with the numbers of sysexits.h, timeout(1) and the shell.
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

    package var meaning: String { self.texts.meaning }
    package var category: String { self.texts.category }
    package var row: (String, String) { (String(self.rawValue), self.meaning) }

    private var texts: (category: String, meaning: String) {
        switch self {
        case .success: ("none", "Done.")
        case .failure: ("failure", "Failed for another reason, or perhaps done all the same; the message says.")
        case .usage: ("usage", "The command line is wrong.")
        case .badInput: ("input", "The payload or data is not what it should be.")
        case .missingInput: ("missing-input", "The input file, or the message that was asked for, is not there.")
        case .unreachable: ("unreachable", "The cloud, the broker or the emulator cannot be reached.")
        case .internalError: ("internal", "A defect of kii-push.")
        case .cannotCreate: ("cannot-create", "A file or directory cannot be created.")
        case .inputOutput: ("io", "Reading or writing failed, for instance because the disk is full.")
        case .temporary: ("temporary", "Not now: busy, rate-limited, or held by another process. Try again.")
        case .protocolError: ("protocol", "The cloud or the broker refused, or answered against the protocol.")
        case .authentication: ("auth", "Credentials or rights were refused.")
        case .configuration:
            ("configuration", "The configuration is missing, wrong, or a file of secrets is open to others.")
        case .timedOut: ("timeout", "The time limit passed before the awaited event.")
        case .interrupted: ("interrupted", "Interrupted by ^C.")
        case .terminated: ("terminated", "Ended at once by a second SIGTERM. What ran then is handled again.")
        }
    }

    /// The exit status after a graceful stop: 130 after ^C, otherwise 0, which means success to a service manager.
    package static func afterStop(signal: Int32) -> ExitStatus { signal == SIGINT ? .interrupted : .success }

    package static let ofCloudCommands: [ExitStatus] = [
        .failure, .unreachable, .temporary, .protocolError, .authentication, .configuration,
    ]
}
