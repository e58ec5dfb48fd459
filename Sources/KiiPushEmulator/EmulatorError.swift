import Glibc
import KiiPushCore

/// The reason why the emulator did not start.
public struct EmulatorError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure, each with its own remedy.
    public enum Code: Sendable, Hashable {
        /// Another emulator uses the directory. The value is its process ID; `nil` if unknown.
        case directoryInUse(pid: Int32?)
        /// A required port is in use.
        case portInUse(UInt16)
        /// A required program is missing or not executable: `mosquitto`, `mosquitto_passwd`, `setpriv` or `openssl`.
        case programNotFound(String)
        /// The broker failed to start, or did not become ready.
        case brokerFailed
        /// The certificates for TLS could not be created or used.
        case certificatesFailed
        /// The configuration requires a port for HTTPS, but this machine's libmicrohttpd was built without TLS.
        case httpsUnavailable
        /// The stored state cannot be read or written.
        case stateUnusable
        /// A system call failed, or the emulator refused a file or directory. The value is an `errno`.
        case system(Int32)
    }

    /// The kind of failure.
    public var code: Code
    /// The failed operation and its result, for people and logs, without credentials.
    public var detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    init(_ error: FileError) {
        let number =
            switch error {
            case .system(_, _, let number): number
            case .notADirectory: ENOTDIR
            default: EACCES
            }
        self.init(.system(number), error.description)
    }

    init(_ error: SystemError) { self.init(.system(error.code), error.description) }

    static func system(_ action: String, _ number: Int32) -> EmulatorError {
        EmulatorError(.system(number), "cannot \(action): \(errorText(number))")
    }

    static func ofFile<Result>(
        _ body: @autoclosure () throws(FileError) -> Result
    ) throws(EmulatorError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw EmulatorError(error)
        }
    }

    package var isShortage: Bool {
        guard case .system(let number) = self.code else { return false }
        return [EMFILE, ENFILE, EAGAIN, ENOMEM].contains(number)
    }

    /// The failure and its remedy on one line.
    public var description: String { "\(self.detail); \(self.advice)" }

    private var advice: String {
        switch self.code {
        case .directoryInUse(.some(let pid)) where pid != getpid(): "stop process \(pid) or use another directory"
        case .directoryInUse: "stop the other emulator or use another directory"
        case .portInUse: "choose another port, or 0 for any free one"
        case .programNotFound(let name):
            name.hasPrefix("mosquitto")
                ? "install the package mosquitto, whose own service is not needed"
                : "install the package that has `\(name)`"
        case .brokerFailed: "read the broker's log in the emulator's directory"
        case .certificatesFailed: "check that `openssl` works, or remove the directory `certificates`"
        case .httpsUnavailable: "install a libmicrohttpd that has GnuTLS, or ask for no HTTPS port"
        case .stateUnusable: "check the directory, or start with an empty one"
        case .system where self.isShortage: "end some processes, or raise their limit (ulimit -n, ulimit -u)"
        case .system: "check the permissions and the free space of the directory"
        }
    }
}
