import Glibc
import KiiPushCore
import Synchronization

/// The running process groups. An interrupt of this program ends them all.
package enum ChildGroups {
    private static let capacity = 64
    private static let changes = Locked(())
    private static let interrupts = [SIGINT, SIGTERM, SIGHUP]
    /// Number of groups being started. An interrupt makes it negative; then no group starts.
    private static let starts = Atomic<Int>(0)

    // A signal handler may read the slots at any moment, and may take no lock. Writers hold `changes` and write each
    // slot in one step; 0 is a free slot.
    nonisolated(unsafe) private static let running: UnsafeMutablePointer<pid_t> = {
        let slots = UnsafeMutablePointer<pid_t>.allocate(capacity: ChildGroups.capacity)
        slots.initialize(repeating: 0, count: ChildGroups.capacity)
        return slots
    }()

    /// Starts a group. An interrupt waits until the group has started, because otherwise the group would outlive this
    /// program.
    static func start(_ spawn: () throws -> pid_t) rethrows -> pid_t {
        // The interrupt's handler waits for this thread, so it must not run on this thread.
        var (blocked, unblocked) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for number in self.interrupts { sigaddset(&blocked, number) }
        pthread_sigmask(SIG_BLOCK, &blocked, &unblocked)
        defer { pthread_sigmask(SIG_SETMASK, &unblocked, nil) }
        if self.starts.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue < 0 {
            self.starts.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            // The interrupt's handler is about to end this process.
            while true { pause() }
        }
        defer { self.starts.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let group = try spawn()
        self.replace(0, with: group)
        return group
    }

    /// Kills the rest of a group, and removes it from the list.
    static func end(_ group: pid_t) {
        Glibc.kill(-group, SIGKILL)
        self.replace(group, with: 0)
    }

    /// Makes an interrupt end the groups and then this process.
    ///
    /// A signal handler does it. A thread in `sigwait` would miss the signals, because Dispatch lets the main thread
    /// take them all.
    package static func endWithInterrupts() {
        // Both have to be initialized before a handler reads them.
        _ = self.running
        _ = self.starts.load(ordering: .relaxed)
        for number in self.interrupts {
            signal(number) { number in
                ChildGroups.starts.bitwiseOr(.min, ordering: .sequentiallyConsistent)
                while ChildGroups.starts.load(ordering: .sequentiallyConsistent) != .min { usleep(1_000) }
                for slot in 0..<ChildGroups.capacity {
                    // The slot is read once, because another thread may set it to 0 meanwhile, and group 0 is this
                    // program's own.
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
