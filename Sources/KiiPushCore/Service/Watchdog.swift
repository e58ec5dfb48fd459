/// Feeds the service manager's watchdog for as long as the service is alive.
///
/// Alive means: the network thread takes turns, a connection that stands has been heard of lately, and no message has been
/// in somebody's hands for much longer than it may. Being offline and trying again is alive.
package struct Watchdog: Sendable {
    /// What keeps it from being fed.
    package struct Limits: Sendable, Hashable {
        /// How long the broker may be silent on a connection that stands: the keep-alive interval, the time for its answer,
        /// and some for a busy machine.
        package var silence = Duration.seconds(100)
        /// How long after its deadline an attempt may still be under way.
        package var overdue = Duration.seconds(60)

        /// - Parameter grace: how long a program has to end when it is told to; `nil` for the usual 5 s. It has that twice,
        ///   before SIGTERM and before SIGKILL, and 30 s are for a busy machine; 60 s it is at least.
        package init(grace: Duration? = nil) {
            if let grace { self.overdue = max(self.overdue, grace * 2 + .seconds(30)) }
        }

        /// The same for an agent that asks its broker so seldom: with zero or less never, and it may hear nothing for ever.
        func allowing(keepAlive: Duration) -> Limits {
            var limits = self
            limits.silence = keepAlive > .zero ? max(self.silence, keepAlive + .seconds(40)) : .seconds(Int64.max)
            return limits
        }
    }

    /// How often it is fed: twice in the time that the manager has set.
    package let interval: Duration

    /// `nil` where nobody wants to be told: `microseconds`, which is `$WATCHDOG_USEC`, is absent, or `processID`, which is
    /// `$WATCHDOG_PID`, names another process, whose watchdog is none of ours.
    package init?(microseconds: String?, processID: String?, ownProcessID: Int32) {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard processID == nil || processID.flatMap({ Int32($0) }) == ownProcessID else { return nil }
        self.interval = .microseconds(microseconds / 2)
    }

    /// Why it is not to be fed; `nil` when all is well. `attemptOverdue` is of attempts outside this process.
    package func complaint(_ health: AgentHealth, attemptOverdue: Duration, _ limits: Limits) -> String? {
        if let silence = health.brokerSilence, silence > limits.silence {
            return "the broker has not been heard for \(silence.text)"
        }
        let overdue = max(health.overdue, attemptOverdue)
        guard overdue > limits.overdue else { return nil }
        return "a handler is \(overdue.text) over its time"
    }

    /// Feeds it until the task is cancelled, or `pause` throws. Nothing is fed while `check` says why not, or does not return;
    /// that is complained about once until it is fed again.
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
