import CSystem
import Glibc

/// A child process, in a process group of its own. The owner calls ``wait()`` once for each child; otherwise an ended
/// child stays a zombie.
package final class ChildProcess: Sendable {
    package struct Launch: Sendable {
        /// The program and its arguments; never empty. A program without a slash is searched along the PATH.
        package var words: [String]
        package var environment: [String: String] = [:]
        package var withheld: Set<String> = []
        /// This process's descriptors, by their numbers in the child. Default for 0: `/dev/null`; for 1 and 2: this
        /// process's own.
        package var descriptors: [Int32: FileDescriptor] = [:]
        package var sendsOutputToStandardError = false

        package init(_ words: [String]) {
            precondition(!words.isEmpty, "there is no program to start")
            self.words = words
        }
    }

    package enum Ending: Sendable, Hashable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)
        /// Another thread has reaped the process, or SIGCHLD is ignored.
        case unknown

        package var description: String {
            switch self {
            case .exited(let status): "exit status \(status)"
            case .signalled(let signal): "signal \(signal)"
            case .unknown: "an unknown exit status (is SIGCHLD ignored?)"
            }
        }

        init(waitStatus: Int32) {
            let signal = waitStatus & 0x7f
            self = signal == 0 ? .exited(waitStatus >> 8 & 0xff) : .signalled(signal)
        }
    }

    private struct State {
        var ending: Ending?
        var isTerminating = false
    }

    package let processID: Int32
    private let state = Locked(State())

    package init(_ launch: Launch) throws(SystemError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if launch.descriptors[0] == nil { posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
        if launch.sendsOutputToStandardError { posix_spawn_file_actions_adddup2(&actions, 2, 1) }
        // Each copied descriptor has a higher number than all targets, so that no dup2 overwrites a source.
        let highest = max(launch.descriptors.keys.max() ?? 2, 2)
        var copies: [FileDescriptor] = []
        defer { withExtendedLifetime(copies) {} }
        for (number, descriptor) in launch.descriptors {
            var source = descriptor
            if source.number <= highest {
                guard let copy = FileDescriptor(duplicating: source.number, from: highest + 1) else {
                    throw SystemError("a descriptor cannot be copied").hindering("start \(launch.words[0])")
                }
                copies.append(copy)
                source = copy
            }
            posix_spawn_file_actions_adddup2(&actions, source.number, number)
        }
        for number in 3..<highest + 1 where launch.descriptors[number] == nil {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        // Also closes the descriptors that another thread opens meanwhile.
        csystem_close_from(&actions, highest + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // With a group of its own, the child gets no interrupt from the terminal.
        posix_spawnattr_setpgroup(&attributes, 0)
        withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 1) { signals in
            guard let signals = signals.baseAddress else { return }
            sigemptyset(signals)
            posix_spawnattr_setsigmask(&attributes, signals)
            sigfillset(signals)
            posix_spawnattr_setsigdefault(&attributes, signals)
        }
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = launch.words.map { strdup($0) } + [nil]
        let variables = ChildProcess.variables(of: launch)
        defer { for text in words + variables { free(text) } }
        var processID: pid_t = 0
        var code: Int32 = 0
        OwnChildren.start {
            code = posix_spawnp(&processID, launch.words[0], &actions, &attributes, words, variables)
            return code == 0 ? processID : nil
        }
        guard code == 0 else { throw SystemError(starting: launch.words[0], code: code) }
        self.processID = processID
    }

    /// Signals the child, but not its descendants. Does nothing once the child is reaped.
    package func signal(_ number: Int32) {
        self.state.withLock { if $0.ending == nil { kill(self.processID, number) } }
    }

    /// Signals the child's process group. ``wait()`` then kills the rest of the group. Does nothing once the child is
    /// reaped.
    package func end(with signal: Int32) {
        self.state.withLock { state in
            // The kernel can reuse the group's number only after the leader is reaped.
            guard state.ending == nil else { return }
            state.isTerminating = true
            kill(-self.processID, signal)
        }
    }

    package func wait() -> Ending {
        // WNOWAIT leaves the process unreaped, since another thread may signal it meanwhile.
        var information = siginfo_t()
        var code: Int32 = -1
        while self.state.withLock({ $0.ending }) == nil {
            code = waitid(P_PID, id_t(self.processID), &information, WEXITED | WNOWAIT)
            if code == 0 || errno != EINTR { break }
        }
        return self.state.withLock { state in
            if let ending = state.ending { return ending }
            var status: Int32 = 0
            // If the process is already reaped, another group may have its number.
            if code == 0, state.isTerminating { kill(-self.processID, SIGKILL) }
            let isReaped = code == 0 && waitpid(self.processID, &status, 0) == self.processID
            OwnChildren.reaped(self.processID)
            let ending = isReaped ? Ending(waitStatus: status) : .unknown
            state.ending = ending
            return ending
        }
    }

    /// `NAME=VALUE` for each variable of the child, then `nil`. The caller frees the strings. Bytes, since a value
    /// need not be UTF-8.
    private static func variables(of launch: Launch) -> [UnsafeMutablePointer<CChar>?] {
        var variables = launch.environment.map { strdup("\($0.key)=\($0.value)") }
        var position = environ
        while let variable = position.pointee {
            let name = String(String(cString: variable).prefix { $0 != "=" })
            if launch.environment[name] == nil, !launch.withheld.contains(name) { variables.append(strdup(variable)) }
            position += 1
        }
        return variables + [nil]
    }
}
