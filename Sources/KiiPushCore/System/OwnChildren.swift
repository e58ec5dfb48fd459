import CSystem
import Glibc

/// The children that this process has started itself, unlike orphans that the kernel assigns to it.
package enum OwnChildren {
    private struct State {
        var starting = 0
        var running: Set<Int32> = []
    }

    private static let state = Monitor(State())

    private static let pause = Duration.seconds(5)

    package static func start(_ spawn: () -> Int32?) {
        self.state.withLock { $0.starting += 1 }
        let processID = spawn()
        self.state.withLock { state in
            state.starting -= 1
            if let processID { state.running.insert(processID) }
        }
        self.state.signalAll()
    }

    package static func reaped(_ processID: Int32) {
        self.state.withLock { _ = $0.running.remove(processID) }
        self.state.signalAll()
    }

    /// Whether orphans become children of this process: it is a container's first process, or a subreaper.
    package static var mayBeOrphans: Bool {
        getpid() == 1 || csystem_is_subreaper() != 0
    }

    /// Starts a thread that reaps orphans until the process ends. Otherwise the zombies fill a container's process
    /// limit.
    package static func reapOrphans() throws(SystemError) {
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

    /// Reaps an ended child. If another thread waits for this child, blocks until that thread has reaped it.
    private static func reap(_ processID: Int32) {
        self.state.wait { state -> WaitStep<Void> in
            guard state.starting == 0, !state.running.contains(processID) else { return .sleep(until: nil) }
            // Under the lock, no new child can get this process ID before waitpid.
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
