// This import provides a GNU extension that the Glibc module leaves out.
import CMicroHTTPD
import Foundation
import Glibc
import KiiPushCore

/// A program that runs beside the test and inherits only the environment of this process. Killed with this object.
///
/// Started by posix_spawn(3), because Foundation's `Process` crashes in a process with more than some thousand open
/// files: it reads past the end of their list.
package final class ChildProgram: Sendable {
    package let output: ProgramOutput
    package let errors: ProgramOutput
    package let processID: Int32
    /// Set once the process is reaped; afterwards another process may get its number.
    private let status = Locked<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program, found along the PATH, and its arguments.
    ///   - environment: replaces the environment of this process. The options that `script/test` sets for the
    ///     sanitizers are kept, unless it has its own: without them, a leak checker reports objects that only a tagged
    ///     pointer of a Swift constant refers to, and ThreadSanitizer delays the program's end.
    ///   - input: its standard input; `nil` is an empty one.
    ///   - mergesErrors: whether standard error goes to ``output``.
    ///   - line: called with each whole line of the output, on a separate thread.
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
        // Dispatch blocks signals in its threads, SIGTERM and SIGALRM among them. The child would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let inherited = ProcessInfo.processInfo.environment
        let options = inherited.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
        let environment = options.merging(environment ?? inherited) { $1 }
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
            // waitid(2) does not change the field if the process still runs.
            information.si_signo = 0
            return waitid(P_PID, id_t(self.processID), &information, WEXITED | WNOWAIT | WNOHANG) == 0
                && information.si_signo == 0
        }
    }

    /// Waits for the end. Returns the exit status or, as a negative number, the signal.
    package func wait() -> Int32 {
        // WNOWAIT leaves the process unreaped, because another thread may still send it a signal.
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

    /// On a separate thread, because a write to a full pipe blocks.
    private static func write(_ text: String, to descriptor: Int32) {
        Thread.detachNewThread {
            // The program may end before it has read all; SIGPIPE must not end this process.
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

/// A pipe that no child inherits. This object closes the ends that nobody took.
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
