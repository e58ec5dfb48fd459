import KiiPushCore

/// What happened lately at an emulator. Its reader follows at its own pace, and holds nobody up: a slow reader misses the
/// oldest entries, and sees that by the numbers.
package final class ActivityLog: Sendable {
    private struct State {
        var entries = RecentEntries<Activity>(maximumCount: 10_000, maximumBytes: 16 << 20)
        var isFollowed = false
        var whenFollowed: (@Sendable () -> Void)?
        var isClosed = false
        /// Wake the readers that wait without a thread, once each.
        var wakes: [@Sendable () -> Void] = []

        mutating func wakeReaders() {
            for wake in self.wakes { wake() }
            self.wakes = []
        }
    }

    /// What a reader finds.
    enum Finding {
        case entry(Activity)
        case nothing
        /// The log has ended, and all of it was read.
        case end
    }

    private let state = Monitor(State())

    /// Begins to keep what happens: until then nobody pays for what nobody looks at.
    package func follow() {
        let begin = self.state.withLock { state in
            state.isFollowed = true
            return state.whenFollowed.take()
        }
        begin?()
    }

    /// Has `body` called when somebody begins to follow; set once, before that.
    func whenFollowed(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.whenFollowed = body } }

    /// - Parameters:
    ///   - event: asked for only where it is kept.
    ///   - moment: when it happened; now, if it is not said.
    func append(_ event: @autoclosure () -> Activity.Event, at moment: Timestamp? = nil) {
        guard self.state.withLock({ $0.isFollowed }) else { return }
        let activity = Activity(at: moment ?? .now(), event: event())
        self.change { $0.entries.append(activity) }
    }

    /// Ends the log: nobody waits any more, and nobody is about to be woken.
    func close() { self.change { $0.isClosed = true } }

    /// Has readers that wait without a thread look again, though nothing has happened.
    func wakeReaders() { self.change { _ in } }

    private func change(_ body: (inout State) -> Void) {
        self.state.withLock { state in
            body(&state)
            // Within the lock: who closes the log relies on it that all are awake. Waking takes note of it, and no more.
            state.wakeReaders()
        }
        self.state.signalAll()
    }

    /// The number of the newest entry; 0 without one.
    var lastSequence: Int64 { self.state.withLock { $0.entries.lastSequence } }

    /// Entries after the one numbered `sequence`, oldest first; blocks until there is one. `nil` when the log has ended and
    /// all of it was read.
    package func next(after sequence: Int64) -> [Activity]? {
        self.state.wait { state -> WaitStep<[Activity]?> in
            let found = state.entries.entries(after: sequence, limit: 256)
            guard found.isEmpty else { return .leave(found) }
            return state.isClosed ? .leave(Optional.none) : .sleep(until: nil)
        }
    }

    /// The oldest entry after the one numbered `sequence`.
    ///
    /// - Parameter wait: called where there is none yet, before there can be one. Returns what wakes the reader; `nil` if it
    ///   does not wait. Both are called within the log's lock, and so must not come back to the log.
    func entry(after sequence: Int64, orWait wait: () -> (@Sendable () -> Void)?) -> Finding {
        self.state.withLock { state in
            if let entry = state.entries.entries(after: sequence, limit: 1).first { return .entry(entry) }
            guard !state.isClosed else { return .end }
            if let wake = wait() { state.wakes.append(wake) }
            return .nothing
        }
    }
}
