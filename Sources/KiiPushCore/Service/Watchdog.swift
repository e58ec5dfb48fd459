/// Feeds systemd's watchdog while the service is alive. A service that is offline and retries counts as alive.
package struct Watchdog: Sendable {
    package struct Limits: Sendable, Hashable {
        /// The longest silence of the broker on an open connection. Default 100 s: the keep-alive interval, the
        /// broker's answer and a margin.
        package var silence = Duration.seconds(100)
        /// The longest time that an attempt to handle a message may run past its deadline. Default 60 s.
        package var overdue = Duration.seconds(60)

        /// - Parameter grace: the time from SIGTERM to SIGKILL for a message's program; `nil` for the default, 5 s.
        ///   ``overdue`` is at least twice that time, plus 30 s for a busy machine.
        package init(grace: Duration? = nil) {
            if let grace { self.overdue = max(self.overdue, grace * 2 + .seconds(30)) }
        }

        /// Without keep-alive (zero or less), no silence is too long.
        func allowing(keepAlive: Duration) -> Limits {
            var limits = self
            limits.silence = keepAlive > .zero ? max(self.silence, keepAlive + .seconds(40)) : .seconds(Int64.max)
            return limits
        }
    }

    /// Half of the time that systemd allows.
    package let interval: Duration

    /// Returns `nil` if systemd does not watch this process: `$WATCHDOG_USEC` (`microseconds`) is absent, invalid or
    /// below 2, or `$WATCHDOG_PID` (`processID`) names another process.
    package init?(microseconds: String?, processID: String?, ownProcessID: Int32) {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard processID == nil || processID.flatMap({ Int32($0) }) == ownProcessID else { return nil }
        self.interval = .microseconds(microseconds / 2)
    }

    /// Returns why the service is not alive, or `nil`. `attemptOverdue` is how late another process is with a message.
    package func complaint(_ health: AgentHealth, attemptOverdue: Duration, _ limits: Limits) -> String? {
        if let silence = health.brokerSilence, silence > limits.silence {
            return "the broker has not been heard for \(silence.text)"
        }
        let overdue = max(health.overdue, attemptOverdue)
        guard overdue > limits.overdue else { return nil }
        return "a handler is \(overdue.text) over its time"
    }

    /// Feeds the watchdog until `pause` throws. Feeds nothing while `check` returns a reason or does not return. Calls
    /// `complain` when `check` begins to return reasons, and `recover` before feeding resumes.
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
