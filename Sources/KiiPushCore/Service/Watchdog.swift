/// Feeds the service manager's watchdog for as long as the service is alive.
///
/// A service is alive if its network thread takes turns, its standing connections have heard the broker lately, and no
/// attempt is far past its deadline. A service that is offline and retries is alive.
package struct Watchdog: Sendable {
    /// The limits within which an agent counts as alive.
    package struct Limits: Sendable, Hashable {
        /// The longest silence of the broker on a connection that stands: the keep-alive interval, the time for the
        /// broker's answer, and a margin for a busy machine. Default 100 s.
        package var silence = Duration.seconds(100)
        /// The longest time that an attempt may run past its deadline. Default 60 s.
        package var overdue = Duration.seconds(60)

        /// - Parameter grace: the time that a program has to end after a request; `nil` for the usual 5 s. ``overdue``
        ///   is then at least twice that time, for the waits before SIGTERM and SIGKILL, and 30 s for a busy machine.
        package init(grace: Duration? = nil) {
            if let grace { self.overdue = max(self.overdue, grace * 2 + .seconds(30)) }
        }

        /// The limits for an agent with this keep-alive interval. With zero or less it never asks its broker, and no
        /// silence is too long.
        func allowing(keepAlive: Duration) -> Limits {
            var limits = self
            limits.silence = keepAlive > .zero ? max(self.silence, keepAlive + .seconds(40)) : .seconds(Int64.max)
            return limits
        }
    }

    /// The time between two feedings: half of the time that the manager has set.
    package let interval: Duration

    /// Returns `nil` if no manager watches this process: `microseconds` (`$WATCHDOG_USEC`) is absent or no number above
    /// 1, or `processID` (`$WATCHDOG_PID`) names another process.
    package init?(microseconds: String?, processID: String?, ownProcessID: Int32) {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard processID == nil || processID.flatMap({ Int32($0) }) == ownProcessID else { return nil }
        self.interval = .microseconds(microseconds / 2)
    }

    /// Returns why the service counts as not alive; `nil` when all is well. `attemptOverdue` is for attempts outside
    /// this process.
    package func complaint(_ health: AgentHealth, attemptOverdue: Duration, _ limits: Limits) -> String? {
        if let silence = health.brokerSilence, silence > limits.silence {
            return "the broker has not been heard for \(silence.text)"
        }
        let overdue = max(health.overdue, attemptOverdue)
        guard overdue > limits.overdue else { return nil }
        return "a handler is \(overdue.text) over its time"
    }

    /// Feeds the watchdog until the task is cancelled or `pause` throws. It feeds nothing while `check` returns a
    /// reason, or does not return. It calls `complain` with the first reason alone, and `recover` before it feeds
    /// again.
    package func run(
        pause: (Duration) async throws -> Void, check: () async -> String?, feed: () -> Void,
        complain: (String) -> Void, recover: () async -> Void
    ) async {
        var isComplaining = false
        while true {
            do { try await pause(self.interval) } catch { return }
            if let reason = await check() {
                if !isComplaining { complain(reason) }
                isComplaining = true
            } else {
                if isComplaining { await recover() }
                isComplaining = false
                feed()
            }
        }
    }
}
