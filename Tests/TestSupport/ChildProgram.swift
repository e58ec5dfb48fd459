// For a GNU extension that the Glibc module leaves out.
import CMicroHTTPD
import Foundation
import Glibc
import KiiPushCore

/// A program that runs beside the test, with nothing of this process's but its environment. Killed with this object.
///
/// By posix_spawn(3), since Foundation's `Process` reads past the end of the list of this process's open files, which it
/// does not survive when there are more than some thousand.
package final class ChildProgram: Sendable {
    package let output: ProgramOutput
    package let errors: ProgramOutput
    package let processID: Int32
    /// Set once the process is reaped, after which its number may be another one's.
    private let status = Locked<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program, found along the PATH, and its arguments.
    ///   - environment: instead of this process's own.
    ///   - input: what it reads; without, it reads nothing.
    ///   - mergesErrors: whether what it says on standard error is taken for ``output``.
    ///   - line: told of each whole line of its output, on a thread of its own.
    package init(
        _ words: [String],
        environment: [String: String]? = nil,
        input: String? = nil,
        mergesErrors: Bool = false,
        line: (@Sendable (String) -> Void)? = nil
    ) throws {
        let (output, errors) = (try ClosedPipe(), try ClosedPipe())
        let inputPipe = try input.map { _ in try ClosedPipe() }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let inputPipe {
            posix_spawn_file_actions_adddup2(&actions, inputPipe.reading, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, mergesErrors ? output.writing : errors.writing, 2)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of Dispatch block signals, SIGTERM and SIGALRM among them, which would pass on to the child.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let environment = environment ?? ProcessInfo.processInfo.environment
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var processID: pid_t = 0
        let code = posix_spawnp(&processID, words[0], &actions, &attributes, arguments, variables)
        guard code == 0 else { throw TestFailure("cannot start \(words[0]): \(String(cString: strerror(code)))") }
        self.processID = processID
        self.output = ProgramOutput(output.takeReading(), line: line)
        self.errors = ProgramOutput(errors.takeReading(), line: nil)
        if let input, let descriptor = inputPipe?.takeWriting() { ChildProgram.write(input, to: descriptor) }
    }

    deinit {
        self.signal(SIGKILL)
        _ = self.wait()
    }

    package func signal(_ number: Int32) {
        self.status.withLock { status in
            if status == nil { kill(self.processID, number) }
        }
    }

    package var isRunning: Bool {
        self.status.withLock { status in
            var information = siginfo_t()
            guard status == nil else { return false }
            // It says nothing of one that runs.
            information.si_signo = 0
            return waitid(P_PID, id_t(self.processID), &information, WEXITED | WNOWAIT | WNOHANG) == 0
                && information.si_signo == 0
        }
    }

    /// Waits for the end, and returns the exit status or, as a negative number, the signal that ended it.
    package func wait() -> Int32 {
        // Not reaped by this: others may want to send it a signal meanwhile.
        var information = siginfo_t()
        while self.status.withLock({ $0 }) == nil,
            waitid(P_PID, id_t(self.processID), &information, WEXITED | WNOWAIT) != 0, errno == EINTR
        {}
        return self.status.withLock { status in
            if let status { return status }
            var code: Int32 = 0
            waitpid(self.processID, &code, 0)
            let ended = code & 0x7f == 0 ? code >> 8 & 0xff : -(code & 0x7f)
            status = ended
            return ended
        }
    }

    /// On a thread of its own, since a pipe takes only so much at once.
    private static func write(_ text: String, to descriptor: Int32) {
        Thread.detachNewThread {
            // A program that ends without reading all is no reason to die.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest.removeFirst(count)
            }
            close(descriptor)
        }
    }
}

/// A pipe that no child inherits; the ends that were not taken are closed with this object.
private final class ClosedPipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("cannot make a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (self.reading, self.writing) = (ends[0], ends[1])
    }

    deinit {
        for end in [self.reading, self.writing] where end >= 0 { close(end) }
    }

    func takeReading() -> Int32 {
        defer { self.reading = -1 }
        return self.reading
    }

    func takeWriting() -> Int32 {
        defer { self.writing = -1 }
        return self.writing
    }
}
