package import KiiPushCore

/// The clocks of a machine whose sleep and calendar the test controls. Time does not pass by itself.
package final class FakeClocks: Sendable {
    private struct State {
        var asleep = Duration.zero
        var calendar = Duration.zero
        var looks = 0
    }

    private let state = Locked(State())

    package init() {}

    package var read: @Sendable () -> ClockReading? {
        { [state] in
            state.withLock { state in
                state.looks += 1
                return ClockReading(
                    monotonic: .zero, sinceBoot: state.asleep, calendar: state.asleep + state.calendar)
            }
        }
    }

    /// Lets the machine sleep for `time`, and sets its calendar by `shift`. Returns when the agents have noticed.
    package func jump(_ runtime: PushRuntime, slept time: Duration = .zero, calendar shift: Duration = .zero)
        async throws
    {
        let before = self.state.withLock { state in
            state.asleep += time
            state.calendar += shift
            return state.looks
        }
        // The loop reads the clocks in the first turn after a wait, and acts in the same turn.
        while self.state.withLock({ $0.looks == before }) { try await runtime.loop.run {} }
        try await runtime.loop.run {}
    }
}
