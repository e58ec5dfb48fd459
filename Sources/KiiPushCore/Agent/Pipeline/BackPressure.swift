/// Counts the bytes that wait to be stored and handled, and decides whether reading from the network stops. Loop thread
/// only.
package struct BackPressure {
    /// The limits at which reading from the network stops. A message in memory counts as the memory that it takes:
    /// ``MemoryStore/memory(of:)``.
    package struct Limits: Sendable {
        /// The limit for bytes that are not stored yet: received in this turn, or earlier while the store could not be
        /// written.
        package var unstoredBytes: Int64
        /// Bytes that wait for a handler, received in this turn or stored.
        package var pendingBytes: Int64

        package init(unstoredBytes: Int64, pendingBytes: Int64) {
            (self.unstoredBytes, self.pendingBytes) = (unstoredBytes, pendingBytes)
        }

        package static let file = Limits(unstoredBytes: 8 << 20, pendingBytes: 1 << 30)
        /// The limits for a store in memory, where nothing that waits is on a disk.
        package static let memory = Limits(unstoredBytes: 8 << 20, pendingBytes: 8 << 20)
    }

    private let limits: Limits
    let running: () -> Set<Int64>
    var unstoredBytes: Int64 = 0
    private(set) var isReadingPaused = false
    var deadLetters = DeadLetterWatch()
    /// The bytes that wait for agents that do not run; cached, valid until the running agents or the backlog's revision
    /// change.
    private var idle: (running: Set<Int64>, revision: Int, bytes: Int64)?

    init(limits: Limits, running: @escaping () -> Set<Int64>) {
        self.limits = limits
        self.running = running
    }

    private func pendingLimit(_ store: any Store) -> Int64 { min(self.limits.pendingBytes, store.pendingShare) }

    /// The bytes that wait for handlers of running agents. Messages for other agents must not keep these from
    /// receiving.
    private mutating func pendingBytes(_ store: any Store) -> Int64 {
        let all = store.pendingBytes
        guard all > self.pendingLimit(store) / 10 * 9 else { return all }
        let (running, revision) = (self.running(), store.backlogRevision)
        if let idle, idle.running == running, idle.revision == revision { return all - idle.bytes }
        // Bytes that cannot be read now count as waiting for a running agent; the next turn reads them again.
        guard let bytes = try? store.pendingBytes(besides: running) else { return all }
        self.idle = (running, revision, bytes)
        return all - bytes
    }

    mutating func isOverLimit(_ store: any Store) -> Bool {
        if self.unstoredBytes > self.limits.unstoredBytes { return true }
        // In memory a message takes as much before it is stored as afterwards.
        let pending = self.pendingBytes(store) + (store.isDurable ? 0 : self.unstoredBytes)
        return pending > self.pendingLimit(store)
    }

    mutating func isChanged(_ store: any Store, report: (PushEvent) -> Void) -> Bool {
        let isStopped = self.deadLetters.stopReading(store.deadLetterStock, of: self.running, report: report)
        if self.isReadingPaused {
            // Reading goes on only well below the limit, so that it does not stop and start with every message.
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
