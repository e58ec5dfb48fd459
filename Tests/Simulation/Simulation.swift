import Glibc
import SimulatedDisk

/// Plays histories: messages take the agent's whole path from a broker's bytes to a handler's answer. Clock, network
/// and disk are simulated from a seed.
package enum Simulation {
    /// Makes the simulated disk SQLite's file system in this process. Call it once, before any database is opened.
    ///
    /// - Returns: whether SQLite accepted the file system.
    package static func prepare() -> Bool { simulated_disk_register() == 0 }

    /// Plays one history.
    ///
    /// - Parameters:
    ///   - directory: an empty directory that only this thread uses; it is empty again afterwards. A directory in
    /// memory is faster.
    ///   - tracer: called with a sentence for each event.
    package static func play(
        _ plan: Plan, in directory: String, tracer: ((String) -> Void)? = nil
    ) -> Judgement? {
        guard let history = History(plan, in: directory) else { return nil }
        history.account.tracer = tracer
        return history.run()
    }

    /// Finds a smaller history that also fails: leaves out halves of the elements first, then single elements.
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
