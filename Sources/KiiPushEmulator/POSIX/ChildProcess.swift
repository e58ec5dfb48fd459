import CMicroHTTPD
import Glibc
import KiiPushCore

/// A child process that is gone, at the latest, when the thread that started it is gone.
///
/// It is started through `setpriv --pdeathsig TERM`: the kernel ends it when its parent thread ends, however that came
/// about. The thread that calls ``init(program:arguments:output:inherited:launcher:)`` therefore has to live as long as
/// the child is wanted.
struct ChildProcess: ~Copyable {
    let pid: pid_t
    /// Reads as ended (`POLLHUP`) once the child has: the child holds the other end and nobody else does.
    let lifeline: FileDescriptor

    /// Starts `program`, with standard output and error in the file `output`.
    ///
    /// - Parameter inherited: a descriptor that the child holds open while it lives, such as that of a lock.
    init(
        program: String, arguments: [String], output: String, inherited: Int32? = nil, launcher: String
    ) throws(EmulatorError) {
        let pair = try FileDescriptor.connectedPair()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Copies above the numbers that the child uses, so that no dup2 below overwrites the source of the next.
        let childEnd = try FileDescriptor.duplicate(pair.second.raw, from: 10)
        let held = try FileDescriptor.duplicate(inherited ?? pair.second.raw, from: 10)
        posix_spawn_file_actions_adddup2(&actions, childEnd.raw, 3)
        posix_spawn_file_actions_adddup2(&actions, held.raw, 4)
        // Whatever the host process left open would otherwise stay open with the child.
        posix_spawn_file_actions_addclosefrom_np(&actions, 5)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own: an interrupt typed at the terminal is for the host process, which stops the child in order.
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let words = [launcher, "--pdeathsig", "TERM", program] + arguments
        let vector = words.map { strdup($0) } + [nil]
        defer { for word in vector { free(word) } }
        var pid: pid_t = 0
        var code: Int32 = 0
        OwnChildren.start {
            code = posix_spawn(&pid, launcher, &actions, &attributes, vector, environ)
            return code == 0 ? pid : nil
        }
        guard code == 0 else { throw .system("start \(program)", code) }
        self.pid = pid
        // The child's end closes here with `pair.second`, so that only the child holds it.
        self.lifeline = pair.first
    }

    /// Whether the child has not ended within `timeout` milliseconds.
    func isRunning(afterMilliseconds timeout: Int32) -> Bool {
        var entry = pollfd(fd: self.lifeline.raw, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, timeout) <= 0
    }

    func signal(_ number: Int32) { kill(self.pid, number) }

    /// Waits for the end and returns the exit code, or 128 + the signal that ended it.
    consuming func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(self.pid, &status, 0) < 0, errno == EINTR {}
        OwnChildren.reaped(self.pid)
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }

    /// Asks the child to end, insists after `patience` milliseconds, and reaps it.
    consuming func stop(patience: Int32) {
        self.signal(SIGTERM)
        if self.isRunning(afterMilliseconds: patience) { self.signal(SIGKILL) }
        _ = self.wait()
    }

    /// Runs a program to its end; the calling thread blocks meanwhile. Returns its exit code.
    static func run(_ program: String, _ arguments: [String], output: String, launcher: String) throws(EmulatorError)
        -> Int32
    { try ChildProcess(program: program, arguments: arguments, output: output, launcher: launcher).wait() }
}
