/// Counts the bytes of waiting messages, and decides whether reading from the network stops. Loop thread only.
package struct BackPressure {
    package struct Limits: Sendable {
        package var unstoredBytes: Int64
        package var pendingBytes: Int64

        package init(unstoredBytes: Int64, pendingBytes: Int64) {
            (self.unstoredBytes, self.pendingBytes) = (unstoredBytes, pendingBytes)
        }

        package static let file = Limits(unstoredBytes: 8 << 20, pendingBytes: 1 << 30)
        package static let memory = Limits(unstoredBytes: 8 << 20, pendingBytes: 8 << 20)
    }

    private let limits: Limits
    let running: () -> Set<Int64>
    var unstoredBytes: Int64 = 0
    private(set) var isReadingPaused = false
    var deadLetters = DeadLetterWatch()
    /// Caches the bytes of messages for agents that do not run. Valid for this `running` and `revision`.
    private var idle: (running: Set<Int64>, revision: Int, bytes: Int64)?

    init(limits: Limits, running: @escaping () -> Set<Int64>) {
        self.limits = limits
        self.running = running
    }

    private func pendingLimit(_ store: any Store) -> Int64 { min(self.limits.pendingBytes, store.pendingShare) }

    /// Near the limit, leaves out messages for agents that do not run: such messages should not stop the reading.
    private mutating func pendingBytes(_ store: any Store) -> Int64 {
        let all = store.pendingBytes
        guard all > self.pendingLimit(store) / 10 * 9 else { return all }
        let (running, revision) = (self.running(), store.backlogRevision)
        if let idle, idle.running == running, idle.revision == revision { return all - idle.bytes }
        // If the store cannot be read, all messages count; the next turn tries again.
        guard let bytes = try? store.pendingBytes(besides: running) else { return all }
        self.idle = (running, revision, bytes)
        return all - bytes
    }

    mutating func isOverLimit(_ store: any Store) -> Bool {
        if self.unstoredBytes > self.limits.unstoredBytes { return true }
        // Without a file, stored and unstored messages share the memory.
        let pending = self.pendingBytes(store) + (store.isDurable ? 0 : self.unstoredBytes)
        return pending > self.pendingLimit(store)
    }

    mutating func isChanged(_ store: any Store, report: (PushEvent) -> Void) -> Bool {
        let isStopped = self.deadLetters.stopReading(store.deadLetterStock, of: self.running, report: report)
        if self.isReadingPaused {
            // Resumes at 90 % of the limit, so that reading does not stop and start with every message.
            guard !isStopped, self.unstoredBytes == 0,
                self.pendingBytes(store) <= self.pendingLimit(store) / 10 * 9
            else { return false }
            self.isReadingPaused = false
        } else {
            guard isStopped || self.isOverLimit(store) else { return false }
            self.isReadingPaused = true
        }
        return true
    }
}
