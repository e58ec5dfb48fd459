import Glibc
import SimulatedDisk

/// Plays histories: the whole way of messages from a broker's bytes to a handler's answer, on a time, a network and a disk that
/// follow from a seed.
package enum Simulation {
    /// Makes the simulated disk SQLite's file system in this process. Once, before anything is opened.
    ///
    /// - Returns: whether that could be done.
    package static func prepare() -> Bool { simulated_disk_register() == 0 }

    /// Plays one history.
    ///
    /// - Parameters:
    ///   - directory: an empty directory of this thread's own, which is empty again afterwards. One in memory is faster.
    ///   - tracer: called with a sentence for each thing that happens.
    package static func play(
        _ plan: Plan, in directory: String, tracer: ((String) -> Void)? = nil
    ) -> Judgement? {
        guard let history = History(plan, in: directory) else { return nil }
        history.account.tracer = tracer
        return history.run()
    }

    /// Finds a smaller history that fails as well, by leaving out elements: halves first, then single ones.
    package static func shrink(_ plan: Plan, in directory: String) -> Plan {
        var plan = plan
        var size = max(1, plan.indices.count / 2)
        while true {
            var start = 0
            var isSmaller = false
            while start < plan.indices.count {
                var indices = plan.indices
                indices.removeSubrange(start..<min(start + size, indices.count))
                let candidate = plan.keeping(indices)
                if let judgement = self.play(candidate, in: directory), !judgement.violations.isEmpty {
                    plan = candidate
                    isSmaller = true
                } else {
                    start += size
                }
            }
            guard size > 1 || isSmaller else { return plan }
            size = max(1, size / 2)
        }
    }
}
