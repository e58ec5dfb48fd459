import CKiiPush
import Glibc
import KiiPushCore

/// A failure with the members of `kii_push_error`.
struct CFailure: Error {
    let code: kii_push_code
    let text: String
    /// The HTTP status, or 0 without an answer of the server.
    var status: Int32 = 0
    /// Kii's `errorCode`, or empty.
    var refusal = ""
    var isTemporary = false

    init(_ code: kii_push_code, _ text: String) { (self.code, self.text) = (code, text) }

    static func argument(_ text: String) -> CFailure { CFailure(KII_PUSH_E_ARGUMENT, text) }
    static func state(_ text: String) -> CFailure { CFailure(KII_PUSH_E_STATE, text) }

    static func handle(_ kind: String) -> CFailure {
        CFailure(KII_PUSH_E_HANDLE, "this is no \(kind): it has ended, was never given out, or is of another kind")
    }

    static func callback(_ function: String) -> CFailure {
        CFailure(
            KII_PUSH_E_CALLBACK, "\(function) would wait for itself inside this callback; call it on another thread")
    }

    init(_ error: any Error) {
        switch error {
        case let error as CFailure: self = error
        case let error as PushAgentError: self.init(error)
        case let error as KiiError: self.init(error, error.description)
        case let error as KiiInputError: self.init(KII_PUSH_E_CONFIGURATION, error.description)
        case let error as FileError:
            self.init(KII_PUSH_E_FILE, error.description)
            self.isTemporary = error.isTemporary
        case let error as TransportError where error.code == .invalidConfiguration:
            self.init(KII_PUSH_E_CONFIGURATION, error.description)
        case let error as TransportError where error.code == .shutDown: self = .handle("runtime")
        case is TransportError, is KiiResponseError:
            self.init(KII_PUSH_E_NETWORK, "\(error)")
            self.isTemporary = true
        case let error as SystemError:
            self.init(KII_PUSH_E_STATE, error.description)
            self.isTemporary = true
        case is CancellationError: self = .state("it was stopped meanwhile")
        default: self = .state("\(error)")
        }
    }

    private init(_ error: PushAgentError) {
        switch error {
        case .invalidConfiguration(let setting, let reason):
            self.init(KII_PUSH_E_CONFIGURATION, "/\(setting) \(reason)")
        case .signInRefused(let cause), .pseudoUserLost(let cause): self.init(cause, error.description)
        case .noUsablePort, .subscriptionRefused: self.init(KII_PUSH_E_NETWORK, error.description)
        case .alreadyRunning, .feed: self = .state(error.description)
        case .stateDirectoryInUse, .installationInUse, .stateOfAnotherAccount, .file, .inboxOfNewerVersion, .inbox,
            .gatewayInUse, .leaseLost:
            self.init(KII_PUSH_E_FILE, error.description)
        }
        self.isTemporary = error.isTemporary
    }

    private init(_ error: KiiError, _ text: String) {
        self.init(KII_PUSH_E_REFUSED, text)
        self.status = Int32(clamping: error.status)
        self.refusal = error.errorCode ?? ""
        self.isTemporary = error.isTransient
    }

    static func reading<Value>(_ read: @autoclosure () throws(JSONMemberError) -> Value) throws(CFailure) -> Value {
        try Result(catching: read).mapError { CFailure(KII_PUSH_E_CONFIGURATION, $0.description) }.get()
    }

    func write(to error: UnsafeMutablePointer<kii_push_error>?) {
        guard let error else { return }
        error.pointee.code = Int32(self.code.rawValue)
        error.pointee.status = self.status
        error.pointee.temporary = self.isTemporary ? 1 : 0
        withUnsafeMutableBytes(of: &error.pointee.refusal) { CFailure.write(self.refusal, to: $0) }
        withUnsafeMutableBytes(of: &error.pointee.text) { CFailure.write(self.text, to: $0) }
    }

    /// Writes one line with a final zero, cut before a character that does not fit.
    private static func write(_ text: String, to buffer: UnsafeMutableRawBufferPointer) {
        var count = 0
        for character in text {
            let isLine = character.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            let bytes = isLine ? String(character).utf8 : " ".utf8
            guard count + bytes.count < buffer.count else { break }
            for byte in bytes {
                buffer[count] = byte
                count += 1
            }
        }
        buffer[count] = 0
    }
}

/// Returns `KII_PUSH_OK`, or a failure's code after writing the failure to `error`.
func answering(
    _ error: UnsafeMutablePointer<kii_push_error>?, _ body: () throws(CFailure) -> Void
) -> Int32 {
    do throws(CFailure) {
        try requireOwnProcess()
        try body()
        return Int32(KII_PUSH_OK.rawValue)
    } catch let failure {
        failure.write(to: error)
        return Int32(failure.code.rawValue)
    }
}
