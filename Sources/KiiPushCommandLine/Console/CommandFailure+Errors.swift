import Glibc
import KiiPushCore

extension CommandFailure {
    /// Describes any error for the command line: mostly its own text, with an exit code and sometimes a hint.
    package init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as FileError: self.init(error.exit, error.description)
        case let error as PushAgentError: self.init(error)
        case let error as InboxAccessError: self.init(error.exit, error.description)
        case let error as SystemError:
            self.init(
                .temporary, error.description,
                hint: "end some processes, or raise their limit (ulimit -u, ulimit -n)")
        case let error as TransportError: self.init(error)
        case let error as KiiError: self.init(error)
        case let error as KiiInputError:
            self.init(error.field == .message || error.field == .fields ? .badInput : .usage, error.description)
        case let error as KiiResponseError: self.init(.protocolError, error.description)
        case let error as MessageError: self.init(error)
        case let error as JSONError: self.init(.badInput, error.description)
        case is CancellationError: self.init(.interrupted, "interrupted")
        default: self.init(.failure, "\(error)")
        }
    }

    package static func advising(_ error: any Error, of profile: String) -> any Error {
        guard case .pseudoUserLost? = error as? PushAgentError else { return error }
        var failure = CommandFailure(describing: error)
        failure.hint = self.hintToRegisterAnew(profile)
        return failure
    }

    private static func hintToRegisterAnew(_ profile: String = ProfileLocation.defaultName) -> String {
        "'kii-push register --anew\(ProfileLocation.option(of: profile))' begins as another user; what waits for this one "
            + "is lost then"
    }

    private init(_ error: PushAgentError) {
        switch error {
        case .signInRefused(let cause):
            self.init(describing: cause)
            if cause.isOfCloud { self.exit = .authentication }
            self.message = error.description
        case .pseudoUserLost(let cause):
            self.init(describing: cause)
            self.exit = .authentication
            self.message = "the cloud no longer takes the token of this profile's user: \(cause)"
            self.hint = Self.hintToRegisterAnew()
        case .file(let cause): self.init(describing: cause)
        case .stateDirectoryInUse(_, let processID), .installationInUse(_, let processID):
            self.init(
                .temporary,
                "\(HostProcess(id: processID)) receives as this profile, and the cloud lets one receiver connect at a time",
                hint: "stop it, or receive as somebody else in another profile: --profile NAME")
        case .stateOfAnotherAccount, .invalidConfiguration, .inboxOfNewerVersion:
            self.init(.configuration, error.description)
        case .gatewayInUse, .leaseLost: self.init(.temporary, error.description)
        case .noUsablePort, .subscriptionRefused: self.init(.protocolError, error.description)
        case .inbox: self.init(.inputOutput, error.description)
        case .alreadyRunning: self.init(.internalError, error.description)
        case .feed: self.init(.failure, error.description)
        }
    }

    private init(_ error: MessageError) {
        self.init(.badInput, error.description)
        if case .thingCommand(let command) = error {
            self.message = "the payload is no push but a thing-if command, with the ID \(command.commandID)"
            self.hint = "a thing's program carries it out; there is nothing to explain"
        }
    }

    private init(_ error: KiiError) {
        let exit: ExitStatus =
            switch error.status {
            case _ where error.isInDoubt: .failure
            case _ where error.refusesCredentials || error.isOfCloud && [401, 403].contains(error.status):
                .authentication
            case _ where error.isTransient: .temporary
            default: .protocolError
            }
        self.init(exit, error.description, code: error.errorCode, httpStatus: error.status)
        self.isInDoubt = error.isInDoubt
        self.answer = error.answerText
    }

    private init(_ error: TransportError) {
        let exit: ExitStatus =
            switch error.code {
            case _ where error.isInDoubt: .failure
            case _ where error.isShortage: .temporary
            case .nameNotResolved, .connectionRefused, .timedOut, .connectionLost, .tlsFailed, .certificateNotTrusted,
                .clientCertificateRequired, .webSocketFailed, .other:
                .unreachable
            case .tooLarge: .protocolError
            case .invalidConfiguration: .configuration
            case .shutDown: .internalError
            }
        self.init(exit, error.description)
        self.isInDoubt = error.isInDoubt
        if error.code == .certificateNotTrusted { self.hint = "trust the authority in a file: --cacert FILE" }
    }
}

extension InboxAccessError {
    fileprivate var exit: ExitStatus {
        switch self {
        case .missing, .neverReceived, .removed: .missingInput
        case .newerVersion: .configuration
        case .ended, .silent: .temporary
        case .damaged, .unusable, .refused: .inputOutput
        }
    }
}

extension FileError {
    fileprivate var exit: ExitStatus {
        switch self {
        case .system(_, _, ENOSPC), .system(_, _, EDQUOT), .system(_, _, EIO): .inputOutput
        case _ where self.isTemporary: .temporary
        case .system(_, "create", _), .system(_, "mkdir", _), .system(_, "rename", _): .cannotCreate
        case .system: .inputOutput
        case .notAFile, .notADirectory, .tooOpen, .foreignOwner, .writableByOthers, .tooLarge, .malformed, .newerFormat:
            .configuration
        }
    }
}

extension KiiError {
    fileprivate var answerText: String {
        var members = [("errorCode", self.errorCode), ("message", self.message)].compactMap { name, text in
            text.map { (name, JSONValue($0)) }
        }
        members += (self.context.members ?? []).map { ($0.key, $0.value) }
        guard !members.isEmpty else { return "\(self.bodyByteCount) bytes, which are no error of Kii's" }
        return JSONValue.object(members).text
    }
}
