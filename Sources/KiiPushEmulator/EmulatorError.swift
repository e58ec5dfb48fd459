import Glibc
import KiiPushCore

/// Why the emulator did not start.
public struct EmulatorError: Error, Sendable, CustomStringConvertible {
    /// What failed, in terms of what a person can do about it.
    public enum Code: Sendable, Hashable {
        /// Another emulator works on the same directory; its process ID where it is known.
        case directoryInUse(pid: Int32?)
        /// A port that was asked for is taken.
        case portInUse(UInt16)
        /// A program that the emulator runs (`mosquitto`, `mosquitto_passwd`, `setpriv`, `openssl`) is not installed.
        case programNotFound(String)
        /// The broker did not start or did not become ready.
        case brokerFailed
        /// The certificates for TLS could not be made.
        case certificatesFailed
        /// A port for HTTPS was asked for, and the libmicrohttpd of this machine was built without TLS.
        case httpsUnavailable
        /// The stored state cannot be read or written.
        case stateUnusable
        /// The operating system refused something; the number is its `errno`.
        case system(Int32)
    }

    /// What failed.
    public var code: Code
    /// What was tried and what came of it. For people and logs, without credentials.
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

    /// Throws the error of a file that could not be used as one of these.
    static func ofFile<Result>(
        _ body: @autoclosure () throws(FileError) -> Result
    ) throws(EmulatorError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw EmulatorError(error)
        }
    }

    /// Whether the machine, or this process's share of it, is short of descriptors, processes or memory, which may pass.
    package var isShortage: Bool {
        guard case .system(let number) = self.code else { return false }
        return [EMFILE, ENFILE, EAGAIN, ENOMEM].contains(number)
    }

    /// One line: what failed and what to do about it.
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
