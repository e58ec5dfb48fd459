import KiiPushCore

/// The latest events of an emulator. A slow reader blocks nobody: it misses the oldest entries, which a gap in the
/// sequence numbers shows.
package final class ActivityLog: Sendable {
    private struct State {
        var entries = RecentEntries<Activity>(maximumCount: 10_000, maximumBytes: 16 << 20)
        var isFollowed = false
        var whenFollowed: (@Sendable () -> Void)?
        var isClosed = false
        /// Each closure wakes a reader, and is called once.
        var wakes: [@Sendable () -> Void] = []

        mutating func wakeReaders() {
            for wake in self.wakes { wake() }
            self.wakes = []
        }
    }

    enum Finding {
        case entry(Activity)
        case nothing
        case end
    }

    private let state = Monitor(State())

    /// Starts the recording. Before this call, the log drops all entries.
    package func follow() {
        let begin = self.state.withLock { state in
            state.isFollowed = true
            return state.whenFollowed.take()
        }
        begin?()
    }

    func whenFollowed(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.whenFollowed = body } }

    func append(_ event: @autoclosure () -> Activity.Event, at moment: Timestamp? = nil) {
        guard self.state.withLock({ $0.isFollowed }) else { return }
        let activity = Activity(at: moment ?? .now(), event: event())
        self.change { $0.entries.append(activity) }
    }

    /// Closes the log and wakes all readers.
    func close() { self.change { $0.isClosed = true } }

    func wakeReaders() { self.change { _ in } }

    private func change(_ body: (inout State) -> Void) {
        self.state.withLock { state in
            body(&state)
            // Under the lock, so that no closure is called after `close()` has returned. A closure only resumes a
            // connection, and so does not need this lock.
            state.wakeReaders()
        }
        self.state.signalAll()
    }

    var lastSequence: Int64 { self.state.withLock { $0.entries.lastSequence } }

    /// Blocks until there is an entry after `sequence`. Returns `nil` when the log is closed and the reader has all
    /// entries.
    package func next(after sequence: Int64) -> [Activity]? {
        self.state.wait { state -> WaitStep<[Activity]?> in
            let found = state.entries.entries(after: sequence, limit: 256)
            guard found.isEmpty else { return .leave(found) }
            return state.isClosed ? .leave(Optional.none) : .sleep(until: nil)
        }
    }

    /// The first entry after `sequence`.
    ///
    /// - Parameter wait: called if there is no such entry. It returns a closure that wakes the reader, or `nil` for no
    ///   wake-up. Both closures run under the log's lock, and so must not call the log.
    func entry(after sequence: Int64, orWait wait: () -> (@Sendable () -> Void)?) -> Finding {
        self.state.withLock { state in
            if let entry = state.entries.entries(after: sequence, limit: 1).first { return .entry(entry) }
            guard !state.isClosed else { return .end }
            if let wake = wait() { state.wakes.append(wake) }
            return .nothing
        }
    }
}
