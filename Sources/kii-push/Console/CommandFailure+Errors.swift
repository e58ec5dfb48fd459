import Glibc
import KiiPushCore

extension CommandFailure {
    /// Puts any error into the words of the command line. The library's errors say in one line what failed and what to
    /// do; what is added here is the exit code.
    init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as FileError: self.init(error)
        case let error as TransportError: self.init(error)
        case let error as KiiError: self.init(error)
        case let error as KiiInputError: self.init(.usage, error.description)
        case let error as KiiResponseError: self.init(.protocolError, error.description)
        case let error as MessageError: self.init(error)
        case let error as JSONError: self.init(.badInput, error.description)
        case is CancellationError: self.init(.interrupted, "interrupted")
        default: self.init(.failure, "\(error)")
        }
    }

    private init(_ error: MessageError) {
        self.init(.badInput, error.description)
        if case .thingCommand(let command) = error {
            self.message = "the payload is no push but a thing-if command, with the ID \(command.commandID)"
            self.hint = "a thing's program carries it out; there is nothing to decode"
        }
    }

    private init(_ error: KiiError) {
        let exit: ExitStatus =
            switch error.status {
            case 401, 403: .authentication
            case 429: .temporary
            case 500...: error.isTransient ? .temporary : .protocolError
            default: .protocolError
            }
        self.init(
            exit,
            error.description,
            code: error.errorCode?.rawValue,
            httpStatus: error.status
        )
    }

    private init(_ error: TransportError) {
        let exit: ExitStatus =
            switch error.code {
            case .nameNotResolved, .connectionRefused, .timedOut, .connectionLost, .tlsFailed, .certificateNotTrusted,
                .other:
                .unreachable
            case .tooLarge: .protocolError
            case .invalidConfiguration: .configuration
            case .shutDown: .internalError
            }
        self.init(exit, error.description)
    }

    private init(_ error: FileError) {
        let exit: ExitStatus =
            switch error {
            case .system(_, _, ENOSPC), .system(_, _, EDQUOT), .system(_, _, EIO): .inputOutput
            case .system(_, "create", _), .system(_, "mkdir", _), .system(_, "rename", _): .cannotCreate
            case .system: .inputOutput
            case .notAFile, .notADirectory, .tooOpen, .foreignOwner, .tooLarge, .malformed, .newerFormat:
                .configuration
            }
        self.init(exit, error.description)
    }
}
