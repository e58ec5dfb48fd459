// This import provides a GNU extension that the Glibc module leaves out.
import CMicroHTTPD
import Foundation
import Glibc
import KiiPushCore

/// A program that is started and killed repeatedly, with all its children.
package final class ReceiverProcess: Sendable {
    private enum State {
        case notStarted
        case running(pid_t)
        /// The status of wait(2).
        case ended(Int32)
    }

    private let words: [String]
    private let variables: [String]
    private let output: String
    private let state = Locked(State.notStarted)

    /// - Parameters:
    ///   - environment: variables beside those of this process.
    ///   - output: the file for standard output and standard error.
    package init(program: String, arguments: [String], environment: [String: String], output: String) {
        self.words = [program] + arguments
        self.output = output
        var inherited: [String] = []
        var entry = environ
        while let text = entry.pointee {
            inherited.append(String(cString: text))
            entry += 1
        }
        self.variables =
            inherited.filter { text in !environment.keys.contains { text.hasPrefix("\($0)=") } }
            + environment.map { "\($0.key)=\($0.value)" }
    }

    deinit {
        if case .running(let pid) = self.state.withLock({ $0 }) {
            ChildGroups.end(pid)
            waitpid(pid, nil, 0)
        }
    }

    package var isRunning: Bool {
        self.state.withLock { state in
            guard case .running(let pid) = state else { return false }
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) == pid {
                ChildGroups.end(pid)
                state = .ended(status)
                return false
            }
            return true
        }
    }

    package func start() throws {
        guard !self.isRunning else { throw FaultError("\(self.words[0]) runs already") }
        let pid = try ChildGroups.start(self.spawn)
        self.state.withLock { $0 = .running(pid) }
    }

    /// The program's exit status, if it has ended, and the end of its output, for an error message.
    package var lastWords: String {
        let text = (try? String(contentsOfFile: self.output, encoding: .utf8)) ?? ""
        var words = text.split(separator: "\n").suffix(3).map(String.init)
        if !self.isRunning, case .ended(let status) = self.state.withLock({ $0 }) {
            words.insert(status & 0x7f == 0 ? "exit \(status >> 8 & 0xff)" : "signal \(status & 0x7f)", at: 0)
        }
        return words.joined(separator: " | ")
    }

    /// Kills the process and its children, from any thread and without waiting for their end.
    package func signalKill() {
        self.state.withLock { state in
            if case .running(let pid) = state { Glibc.kill(-pid, SIGKILL) }
        }
    }

    /// Kills the process and its children, and waits for its end.
    package func kill() async {
        self.signalKill()
        // The kernel takes a moment. A blocked thread of the pool would delay other tasks.
        while self.isRunning { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Asks the process to end, without waiting for it.
    package func signalStop() {
        self.state.withLock { state in
            if case .running(let pid) = state { Glibc.kill(pid, SIGTERM) }
        }
    }

    /// Asks the process to end, and waits for its end.
    ///
    /// - Throws: if the process does not end; it is then killed.
    package func stop() async throws {
        self.signalStop()
        let deadline = MonotonicInstant.now() + .seconds(120)
        while self.isRunning {
            guard MonotonicInstant.now() < deadline else {
                await self.kill()
                throw FaultError("\(self.words[0]) does not end")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func spawn() throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, self.output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The inherited descriptors include sockets of the proxy. A copy would keep a peer from seeing the end of its
        // connection.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A separate process group, so that a script's children die with it.
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        let arguments = self.words.map { strdup($0) } + [nil]
        let environment = self.variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, self.words[0], &actions, &attributes, arguments, environment)
        guard code == 0 else {
            throw FaultError("cannot start \(self.words[0]): \(String(cString: strerror(code)))")
        }
        return pid
    }
}
