import KiiPushCore

/// What happened lately at an emulator. Its reader follows at its own pace, and holds nobody up: a slow reader misses the
/// oldest entries, and sees that by the numbers.
package final class ActivityLog: Sendable {
    private struct State {
        var entries = RecentEntries<Activity>(maximumCount: 10_000, maximumBytes: 16 << 20)
        var isFollowed = false
        /// Whether the reader waits for the bell.
        var isAwaited = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let bell: Mailbox<Void>

    init() throws(EmulatorError) { self.bell = try Mailbox() }

    /// Begins to keep what happens: until then nobody pays for what nobody looks at.
    package func follow() { self.state.withLock { $0.isFollowed = true } }

    /// - Parameter event: asked for only where it is kept.
    func append(_ event: @autoclosure () -> Activity.Event) {
        guard self.state.withLock({ $0.isFollowed }) else { return }
        let activity = Activity(at: .now(), event: event())
        self.change { $0.entries.append(activity) }
    }

    /// Ends the log: nobody waits any more.
    func close() { self.change { $0.isClosed = true } }

    private func change(_ body: (inout State) -> Void) {
        let isAwaited = self.state.withLock { state in
            body(&state)
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { _ = self.bell.post(()) }
    }

    /// Entries after the one numbered `sequence`, oldest first; blocks until there is one. `nil` when the log has ended and
    /// all of it was read. For one reader.
    package func next(after sequence: Int64) -> [Activity]? {
        while true {
            let (found, isClosed) = self.state.withLock { state in
                let found = state.entries.entries(after: sequence, limit: 256)
                state.isAwaited = found.isEmpty
                return (found, state.isClosed)
            }
            if !found.isEmpty { return found }
            if isClosed { return nil }
            self.bell.wait()
        }
    }
}
