import Glibc
import KiiPushCommandLine
import KiiPushCore

/// The terminal's settings before the first prompt, or an `errno` value. A global variable, because a signal handler
/// has no context.
private let terminalBefore: (settings: termios, code: Int32) = {
    var settings = termios()
    let code = tcgetattr(STDIN_FILENO, &settings) == 0 ? 0 : errno
    return (settings, code)
}()

enum PasswordPrompt {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Shows `prompt` on standard error and reads a line from standard input without echo. Restores the terminal
    /// afterwards, also if one of ``signals`` ends the program.
    ///
    /// - Throws: ``CommandFailure`` with exit 130 after ^C, ^Z or ^\, 66 if nothing was typed, 74 for a terminal error.
    static func read(_ prompt: String) throws -> Secret {
        // Initializes the global before a signal handler can run: its first use is not async-signal-safe.
        guard terminalBefore.code == 0 else { throw self.failure(terminalBefore.code) }
        let former = self.signals.map { ($0, self.restoreTerminal(at: $0)) }
        defer {
            for (number, var action) in former { sigaction(number, &action, nil) }
        }
        var silent = terminalBefore.settings
        // Without ISIG, ^C and ^Z arrive as ordinary bytes. Without ICANON, bytes arrive before the end of the line.
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG)
        // TCSAFLUSH discards input from before the prompt.
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { throw self.failure(errno) }
        defer {
            var former = terminalBefore.settings
            tcsetattr(STDIN_FILENO, TCSADRAIN, &former)
            // The terminal did not echo the end of the line.
            StandardStream.error.say("\n")
        }
        StandardStream.error.say(prompt)
        return try self.line()
    }

    private static func line() throws -> Secret {
        var bytes: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return try self.password(bytes) }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x04: return try self.password(bytes)
            // ^C, ^Z and ^\.
            case 0x03, 0x1A, 0x1C: throw CommandFailure(.interrupted, "interrupted")
            // Backspace removes a character, which may be several bytes of UTF-8. ^U removes all.
            case 0x08, 0x7F: while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case 0x15: bytes.removeAll()
            default: bytes.append(byte)
            }
        }
    }

    private static func password(_ bytes: [UInt8]) throws -> Secret {
        guard !bytes.isEmpty else { throw CommandFailure(.missingInput, "no password was typed") }
        return Secret(String(decoding: bytes, as: UTF8.self))
    }

    private static func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.inputOutput, "cannot ask for the password: \(errorText(code))")
    }

    /// Installs a signal handler that restores the terminal before the signal ends the program.
    ///
    /// - Returns: the former action of the signal.
    private static func restoreTerminal(at number: Int32) -> sigaction {
        var new = sigaction()
        new.__sigaction_handler.sa_handler = { number in
            // All three functions are on the list in signal-safety(7).
            var former = terminalBefore.settings
            tcsetattr(STDIN_FILENO, TCSANOW, &former)
            signal(number, SIG_DFL)
            raise(number)
        }
        var former = sigaction()
        sigaction(number, &new, &former)
        return former
    }
}
