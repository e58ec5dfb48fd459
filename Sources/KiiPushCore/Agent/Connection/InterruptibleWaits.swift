/// Timed waits that end early when the machine's clocks jump.
///
/// `Task.sleep` may not count the time in which the machine sleeps, and ignores changes of the calendar.
final class InterruptibleWaits: Sendable {
    /// A moment before a wait. The wait also ends at a clock jump since this moment.
    struct Mark: Sendable {
        fileprivate var jumps = 0
        fileprivate var slept = Duration.zero
        fileprivate var time = MonotonicInstant.now()
    }

    private struct State {
        var jumps = 0
        var slept = Duration.zero
        var lastID = 0
        var waiting: [Int: OneShot<Void>] = [:]
    }

    private let state = Locked(State())

    var mark: Mark { self.state.withLock { Mark(jumps: $0.jumps, slept: $0.slept) } }

    func wait(_ time: Duration, since mark: Mark) async {
        let end = OneShot<Void>()
        let id: Int? = self.state.withLock { state in
            guard state.jumps == mark.jumps else { return nil }
            state.lastID += 1
            state.waiting[state.lastID] = end
            return state.lastID
        }
        guard let id else { return }
        defer { self.state.withLock { $0.waiting[id] = nil } }
        async let _: Void = {
            // A longer sleep could exceed the clock's range.
            try? await Task.sleep(for: min(time, .seconds(86_400 * 365)))
            end.resume(())
        }()
        await end.value(onCancel: ())
    }

    /// Waits for `time` from `mark` on, counting sleeps of the machine. Throws only `CancellationError`.
    ///
    /// - Parameter afterSleep: called after a sleep of the machine with the remaining time; returns the time still to
    ///   wait.
    func pass(_ time: Duration, since mark: Mark, afterSleep: (Duration) -> Duration = { $0 }) async throws {
        var mark = mark
        var left = time
        while true {
            await self.wait(left - (.now() - mark.time), since: mark)
            try Task.checkCancellation()
            let now = self.mark
            left -= now.time - mark.time
            if now.slept > mark.slept { left = afterSleep(left - (now.slept - mark.slept)) }
            if left <= .zero { return }
            mark = now
        }
    }

    func pass(_ decision: ReconnectPolicy.Decision, _ policy: ReconnectPolicy, since mark: Mark) async throws {
        try await self.pass(
            decision.delay, since: mark,
            afterSleep: { decision.isShortenedBySleep ? policy.delayAfterSleep(left: $0) : $0 })
    }

    func clocksJumped(_ jump: ClockJump) {
        let waiting = self.state.withLock { state in
            state.jumps += 1
            state.slept += jump.slept
            return Array(state.waiting.values)
        }
        for wait in waiting { wait.resume(()) }
    }
}
