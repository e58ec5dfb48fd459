import KiiPushCore

/// The latest events of an emulator. Readers follow at their own pace and block nobody: a slow reader misses the oldest
/// entries, and sees the gap in the sequence numbers.
package final class ActivityLog: Sendable {
    private struct State {
        var entries = RecentEntries<Activity>(maximumCount: 10_000, maximumBytes: 16 << 20)
        var isFollowed = false
        var whenFollowed: (@Sendable () -> Void)?
        var isClosed = false
        /// Wake the readers that wait without a thread. Each is called once.
        var wakes: [@Sendable () -> Void] = []

        mutating func wakeReaders() {
            for wake in self.wakes { wake() }
            self.wakes = []
        }
    }

    enum Finding {
        case entry(Activity)
        case nothing
        /// The log is closed, and the reader has read every entry.
        case end
    }

    private let state = Monitor(State())

    /// Begins to record. The log records nothing before the first follower, so that it costs nothing while nobody
    /// looks.
    package func follow() {
        let begin = self.state.withLock { state in
            state.isFollowed = true
            return state.whenFollowed.take()
        }
        begin?()
    }

    /// Calls `body` when the first reader follows. Set it once, before that.
    func whenFollowed(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.whenFollowed = body } }

    /// - Parameters:
    ///   - event: evaluated only if the log records.
    ///   - moment: the time of the event; default now.
    func append(_ event: @autoclosure () -> Activity.Event, at moment: Timestamp? = nil) {
        guard self.state.withLock({ $0.isFollowed }) else { return }
        let activity = Activity(at: moment ?? .now(), event: event())
        self.change { $0.entries.append(activity) }
    }

    /// Closes the log and wakes all readers. When it returns, no wake-up call is still to come.
    func close() { self.change { $0.isClosed = true } }

    /// Wakes the readers that wait without a thread, although there is no new entry.
    func wakeReaders() { self.change { _ in } }

    private func change(_ body: (inout State) -> Void) {
        self.state.withLock { state in
            body(&state)
            // Inside the lock: whoever closes the log relies on every reader being awake by then. A wake-up only sets a
            // flag.
            state.wakeReaders()
        }
        self.state.signalAll()
    }

    /// The number of the newest entry; 0 without one.
    var lastSequence: Int64 { self.state.withLock { $0.entries.lastSequence } }

    /// Entries after the one numbered `sequence`, oldest first. Blocks until there is one. `nil` when the log is closed
    /// and every entry was read.
    package func next(after sequence: Int64) -> [Activity]? {
        self.state.wait { state -> WaitStep<[Activity]?> in
            let found = state.entries.entries(after: sequence, limit: 256)
            guard found.isEmpty else { return .leave(found) }
            return state.isClosed ? .leave(Optional.none) : .sleep(until: nil)
        }
    }

    /// The oldest entry after the one numbered `sequence`.
    ///
    /// - Parameter wait: called if there is no such entry yet. Returns the closure that wakes the reader, or `nil` if
    ///   the reader does not wait. Both run inside the log's lock, and so must not call the log.
    func entry(after sequence: Int64, orWait wait: () -> (@Sendable () -> Void)?) -> Finding {
        self.state.withLock { state in
            if let entry = state.entries.entries(after: sequence, limit: 1).first { return .entry(entry) }
            guard !state.isClosed else { return .end }
            if let wake = wait() { state.wakes.append(wake) }
            return .nothing
        }
    }
}
