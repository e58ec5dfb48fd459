package import KiiPushCore

/// The clocks of a machine that a test has sleep, or whose calendar it sets. Time does not pass on them by itself.
package final class FakeClocks: Sendable {
    private struct State {
        var asleep = Duration.zero
        var calendar = Duration.zero
        var looks = 0
    }

    private let state = Locked(State())

    package init() {}

    /// For ``RuntimeEnvironment/readClocks``.
    package var read: @Sendable () -> ClockReading? {
        { [state] in
            state.withLock { state in
                state.looks += 1
                return ClockReading(
                    monotonic: .zero, sinceBoot: state.asleep, calendar: state.asleep + state.calendar)
            }
        }
    }

    /// Has the machine sleep for `time` and its calendar set by `shift`; returns when its agents know.
    package func jump(_ runtime: PushRuntime, slept time: Duration = .zero, calendar shift: Duration = .zero)
        async throws
    {
        let before = self.state.withLock { state in
            state.asleep += time
            state.calendar += shift
            return state.looks
        }
        // The loop looks in the first turn after it has waited, and acts in the same turn.
        while self.state.withLock({ $0.looks == before }) { try await runtime.loop.run {} }
        try await runtime.loop.run {}
    }
}
