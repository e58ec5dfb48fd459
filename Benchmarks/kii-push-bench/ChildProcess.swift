import Glibc

/// A child process of the benchmark: its output line by line, and its use of CPU and memory.
final class ChildProcess {
    /// The CPU time and memory of an ended program, with the children that it waited for.
    struct Usage {
        var succeeded: Bool
        var userSeconds: Double
        var systemSeconds: Double
        var cpuSeconds: Double { self.userSeconds + self.systemSeconds }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let pid: pid_t
    private let output: Int32
    /// The write end of the child's input; -1 without a pipe.
    private var input: Int32 = -1
    private var unread: [UInt8] = []
    private var usage: Usage?

    /// Starts `arguments[0]`, found in `PATH`, with a pipe from its standard output or its errors. ``say(_:)`` needs a
    /// pipe to its input too.
    init(
        _ arguments: [String], environment: [String: String] = [:], readsErrors: Bool = false, takesInput: Bool = false
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "pipe failed with \(errno)") }
        var inputEnds: [Int32] = [-1, -1]
        guard !takesInput || pipe(&inputEnds) == 0 else { throw Failure(description: "pipe failed with \(errno)") }
        for end in ends + inputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], readsErrors ? STDERR_FILENO : STDOUT_FILENO)
        if takesInput { posix_spawn_file_actions_adddup2(&actions, inputEnds[0], STDIN_FILENO) }
        if readsErrors {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var inherited: [String] = []
        var entry = environ
        while let text = entry.pointee {
            inherited.append(String(cString: text))
            entry += 1
        }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let kept = inherited.filter { text in !environment.keys.contains { text.hasPrefix("\($0)=") } }
        // The calling thread may have its signals blocked, for example a thread of libdispatch, and a child inherits
        // the mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let code = withCStrings(arguments) { argv in
            withCStrings(kept + variables) { envp in
                posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, envp)
            }
        }
        close(ends[1])
        if takesInput { close(inputEnds[0]) }
        self.pid = pid
        self.output = ends[0]
        self.input = inputEnds[1]
        guard code == 0 else {
            throw Failure(description: "\(arguments[0]) does not start: \(String(cString: strerror(code)))")
        }
    }

    deinit {
        if self.usage == nil { self.end() }
        close(self.output)
        self.endInput()
    }

    func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        // A write to an ended child fails; the caller notices the end elsewhere.
        _ = write(self.input, bytes, bytes.count)
    }

    func endInput() {
        if self.input >= 0 { close(self.input) }
        self.input = -1
    }

    /// Waits for the next line of output; `nil` at the end.
    func nextLine() -> String? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            if let end = self.unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.unread.removeFirst(end + 1) }
                return String(decoding: self.unread[..<end], as: UTF8.self)
            }
            let count = read(self.output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            self.unread += buffer[..<count]
        }
    }

    func wait() -> Usage {
        while self.nextLine() != nil {}
        return self.reap()
    }

    /// Sends a signal and waits for the end.
    @discardableResult
    func end(_ signal: Int32 = SIGTERM) -> Usage {
        kill(self.pid, signal)
        return self.reap()
    }

    private func reap() -> Usage {
        if let usage = self.usage { return usage }
        var (status, used): (Int32, rusage) = (0, rusage())
        while wait4(self.pid, &status, 0, &used) == -1, errno == EINTR {}
        let usage = Usage(
            succeeded: status == 0,
            userSeconds: used.ru_utime.seconds,
            systemSeconds: used.ru_stime.seconds
        )
        self.usage = usage
        return usage
    }
}

extension timeval {
    var seconds: Double { Double(self.tv_sec) + Double(self.tv_usec) / 1e6 }
}

private func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    return body(&pointers)
}
