import CSystem
import Glibc

/// The children that this process has started and waits for, so that who reaps all others leaves these alone.
package enum OwnChildren {
    private struct State {
        /// The number of children that are about to start, and have no process number yet.
        var starting = 0
        var running: Set<Int32> = []
    }

    private static let state = Monitor(State())

    /// A process without children lets this pass until it looks for one that became its own.
    private static let pause = Duration.seconds(5)

    /// Starts a child.
    ///
    /// - Parameter spawn: gives its number; `nil` where none was started.
    package static func start(_ spawn: () -> Int32?) {
        self.state.withLock { $0.starting += 1 }
        let processID = spawn()
        self.state.withLock { state in
            state.starting -= 1
            if let processID { state.running.insert(processID) }
        }
        self.state.signalAll()
    }

    /// Somebody has waited for a child: its number may be another's from now on.
    package static func reaped(_ processID: Int32) {
        self.state.withLock { _ = $0.running.remove(processID) }
        self.state.signalAll()
    }

    /// Whether orphans become children of this process: it is the first of a container, or was made a subreaper.
    package static var mayBeOrphans: Bool {
        getpid() == 1 || csystem_is_subreaper() != 0
    }

    /// Reaps every child that nobody has started here, on a thread of its own and for the rest of the process: otherwise
    /// each orphan stays a zombie, until the container may have no more processes.
    package static func reapOthers() throws(SystemError) {
        try OSThread(name: "kii-orphans") {
            while true {
                var ended = siginfo_t()
                if waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0 {
                    self.reap(ended._sifields._sigchld.si_pid)
                } else if errno == ECHILD {
                    self.waitForChild()
                } else if errno != EINTR {
                    return
                }
            }
        }.detach()
    }

    /// Reaps a child that has ended, unless it is one that somebody waits for: then it waits until that is done.
    private static func reap(_ processID: Int32) {
        self.state.wait { state -> WaitStep<Void> in
            guard state.starting == 0, !state.running.contains(processID) else { return .sleep(until: nil) }
            // With the lock held: no child that is started meanwhile can have this number.
            waitpid(processID, nil, WNOHANG)
            return .leave(())
        }
    }

    private static func waitForChild() {
        let end = MonotonicInstant.now() + self.pause
        self.state.wait { state in
            state.starting > 0 || !state.running.isEmpty || MonotonicInstant.now() >= end
                ? .leave(()) : .sleep(until: end)
        }
    }
}
