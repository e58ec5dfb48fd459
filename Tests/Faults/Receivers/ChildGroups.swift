import Glibc
import KiiPushCore

/// The process groups that are running, so that none outlives this program when it is interrupted.
package enum ChildGroups {
    private static let capacity = 64
    private static let changes = Locked(())

    // A signal handler reads it at any moment and may take no lock. Written under `changes` alone, each slot at once;
    // 0 is none.
    nonisolated(unsafe) private static let running: UnsafeMutablePointer<pid_t> = {
        let slots = UnsafeMutablePointer<pid_t>.allocate(capacity: ChildGroups.capacity)
        slots.initialize(repeating: 0, count: ChildGroups.capacity)
        return slots
    }()

    static func add(_ group: pid_t) { self.replace(0, with: group) }

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
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                for slot in 0..<ChildGroups.capacity where ChildGroups.running[slot] != 0 {
                    Glibc.kill(-ChildGroups.running[slot], SIGKILL)
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
