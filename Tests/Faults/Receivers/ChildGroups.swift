import Foundation
import Glibc
import KiiPushCore

/// The process groups that are running, so that none outlives this program when it is interrupted.
package enum ChildGroups {
    private static let running = Locked<Set<pid_t>>([])

    static func add(_ group: pid_t) { self.running.withLock { _ = $0.insert(group) } }

    /// Kills what is left of a group, and forgets it.
    static func end(_ group: pid_t) {
        Glibc.kill(-group, SIGKILL)
        self.running.withLock { _ = $0.remove(group) }
    }

    /// Makes an interrupt end the groups and then this process. To be called before any other thread starts.
    package static func endWithInterrupts() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Foundation.Thread.detachNewThread { [signals] in
            var signals = signals
            var received: Int32 = 0
            sigwait(&signals, &received)
            for group in self.running.withLock({ $0 }) { Glibc.kill(-group, SIGKILL) }
            _exit(128 + received)
        }
    }
}
