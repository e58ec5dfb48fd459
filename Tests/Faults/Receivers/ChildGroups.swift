import Glibc
import KiiPushCore
import Synchronization

/// The process groups that are running, so that none outlives this program when it is interrupted.
package enum ChildGroups {
    private static let capacity = 64
    private static let changes = Locked(())
    private static let interrupts = [SIGINT, SIGTERM, SIGHUP]
    /// How many are about to be; below 0 once an interrupt has come, after which none begins.
    private static let starts = Atomic<Int>(0)

    // A signal handler reads it at any moment and may take no lock. Written under `changes` alone, each slot at once;
    // 0 is none.
    nonisolated(unsafe) private static let running: UnsafeMutablePointer<pid_t> = {
        let slots = UnsafeMutablePointer<pid_t>.allocate(capacity: ChildGroups.capacity)
        slots.initialize(repeating: 0, count: ChildGroups.capacity)
        return slots
    }()

    /// Starts a group. An interrupt that comes meanwhile waits for it, or the group would outlive this program.
    static func start(_ spawn: () throws -> pid_t) rethrows -> pid_t {
        // The handler that waits must not have interrupted this thread.
        var (blocked, unblocked) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for number in self.interrupts { sigaddset(&blocked, number) }
        pthread_sigmask(SIG_BLOCK, &blocked, &unblocked)
        defer { pthread_sigmask(SIG_SETMASK, &unblocked, nil) }
        if self.starts.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue < 0 {
            self.starts.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            // The handler is about to end this process.
            while true { pause() }
        }
        defer { self.starts.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let group = try spawn()
        self.replace(0, with: group)
        return group
    }

    /// Kills what is left of a group, and forgets it.
    static func end(_ group: pid_t) {
        Glibc.kill(-group, SIGKILL)
        self.replace(group, with: 0)
    }

    /// Makes an interrupt end the groups and then this process.
    ///
    /// By a handler: a thread that waits for signals misses them, since Dispatch lets the main thread take them all.
    package static func endWithInterrupts() {
        // Made here, and not in the handler.
        _ = self.running
        _ = self.starts.load(ordering: .relaxed)
        for number in self.interrupts {
            signal(number) { number in
                ChildGroups.starts.bitwiseOr(.min, ordering: .sequentiallyConsistent)
                while ChildGroups.starts.load(ordering: .sequentiallyConsistent) != .min { usleep(1_000) }
                for slot in 0..<ChildGroups.capacity {
                    // Read once: another thread may end it meanwhile, and group 0 would be this program's own.
                    let group = ChildGroups.running[slot]
                    if group != 0 { Glibc.kill(-group, SIGKILL) }
                }
                _exit(128 + number)
            }
        }
    }

    private static func replace(_ former: pid_t, with group: pid_t) {
        self.changes.withLock { _ in
            let slot = (0..<self.capacity).first { self.running[$0] == former }
            if let slot { self.running[slot] = group }
        }
    }
}
