import KiiPushCore

/// Feeds the service manager's watchdog for as long as the service is alive.
///
/// Alive means: the network thread takes turns, a connection that stands has been heard of lately, and no message has been
/// in somebody's hands for much longer than it may. Being offline and trying again is alive.
struct Watchdog: Sendable {
    /// What keeps it from being fed.
    struct Limits: Sendable, Hashable {
        /// How long the broker may be silent on a connection that stands: the keep-alive interval, the time for its answer,
        /// and some for a busy machine.
        var silence = Duration.seconds(100)
        /// How long after its deadline an attempt may still be under way: a program that is told to end has its grace twice.
        var overdue = Duration.seconds(60)
    }

    /// How often it is fed: twice in the time that the manager has set.
    let interval: Duration
    var limits = Limits()

    /// - Parameters:
    ///   - microseconds: `$WATCHDOG_USEC`.
    ///   - processID: `$WATCHDOG_PID`; a watchdog that is another process's is none of ours.
    /// - Returns: `nil` where nobody wants to be told.
    init?(microseconds: String?, processID: String?, ownProcessID: Int32) {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard processID == nil || processID.flatMap({ Int32($0) }) == ownProcessID else { return nil }
        self.interval = .microseconds(microseconds / 2)
    }

    /// Why it is not to be fed; `nil` when all is well.
    ///
    /// - Parameter attemptOverdue: how long an attempt outside this process is past its deadline.
    func complaint(_ health: AgentHealth, attemptOverdue: Duration) -> String? {
        if let silence = health.brokerSilence, silence > self.limits.silence {
            return "the broker has not been heard for \(silence.text)"
        }
        let overdue = max(health.overdue, attemptOverdue)
        guard overdue > self.limits.overdue else { return nil }
        return "a handler is \(overdue.text) over its time"
    }

    /// Feeds it until the task is cancelled.
    ///
    /// - Parameters:
    ///   - pause: waits from one time to the next; throws when there is no next.
    ///   - check: why it is not to be fed. Where it does not return, nothing is fed either.
    ///   - feed: feeds it.
    ///   - complain: told why it is not fed, once until it is fed again.
    func run(
        pause: (Duration) async throws -> Void, check: () async -> String?, feed: () -> Void,
        complain: (String) -> Void
    ) async {
        var isComplaining = false
        while true {
            do { try await pause(self.interval) } catch { return }
            if let reason = await check() {
                if !isComplaining { complain(reason) }
                isComplaining = true
            } else {
                isComplaining = false
                feed()
            }
        }
    }
}
