/// Feeds systemd's watchdog while the service is alive. A service that is offline and retries counts as alive.
package final class Watchdog: Sendable {
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

        /// Returns why an agent is not alive, or `nil`. `silence` is that of its broker, `overdue` the delay of its
        /// latest handler.
        func complaint(silence: Duration?, overdue: Duration) -> String? {
            if let silence, silence > self.silence {
                return "the broker has not been heard for \(silence.text)"
            }
            guard overdue > self.overdue else { return nil }
            return "a handler is \(overdue.text) over its time"
        }
    }

    package struct Watched: Sendable {
        fileprivate let agents: [PushAgent]
        fileprivate let limits: Limits
        /// The longest time that another process is past the deadline for a message; zero if none is late.
        fileprivate let overdue: @Sendable () -> Duration
        fileprivate let status: @Sendable () -> String
        /// Like systemd's watchdog, this clock does not count sleeps of the machine.
        fileprivate var endingSince: SuspendingClock.Instant?

        package init(
            _ agents: [PushAgent], limits: Limits = .init(),
            overdue: @escaping @Sendable () -> Duration = { .zero },
            status: @escaping @Sendable () -> String
        ) {
            (self.agents, self.limits, self.overdue, self.status) = (agents, limits, overdue, status)
        }
    }

    private static let longestEnd = Duration.seconds(90)

    private let notifier: ServiceNotifier
    /// Half of the time that systemd allows; `nil` if systemd does not watch this process.
    let interval: Duration?
    private let watched = Locked<Watched?>(nil)

    /// Makes a watchdog that feeds nothing if systemd does not watch this process: `$WATCHDOG_USEC` (`microseconds`) is
    /// absent, invalid or below 2, or `$WATCHDOG_PID` (`processID`) names another process.
    package init(_ notifier: ServiceNotifier, microseconds: String?, processID: String?, ownProcessID: Int32) {
        self.notifier = notifier
        let limit = microseconds.flatMap { Int64($0) } ?? 0
        let isWatched = limit > 1 && (processID == nil || processID.flatMap { Int32($0) } == ownProcessID)
        self.interval = isWatched ? .microseconds(limit / 2) : nil
    }

    package func begin(_ watched: Watched) { self.watched.withLock { $0 = watched } }
    package func end() { self.watched.withLock { $0?.endingSince = .now } }

    /// Feeds until the task is cancelled. Feeds nothing while an agent is not alive, or its network thread does not
    /// answer.
    ///
    /// - Parameter report: called with the reason when feeding stops, and with `nil` when feeding resumes.
    package func feed(report: (_ complaint: String?) -> Void = { _ in }) async {
        guard let interval else { return }
        var isComplaining = false
        while (try? await Task.sleep(for: interval)) != nil {
            if let reason = await self.complaint() {
                if !isComplaining {
                    report(reason)
                    self.notifier.status("not alive: \(reason)")
                }
                isComplaining = true
                continue
            }
            if isComplaining {
                isComplaining = false
                report(nil)
                let watched = self.watched.withLock { $0 }
                if let watched, watched.endingSince == nil { self.notifier.status(watched.status()) }
            }
            self.notifier.feedWatchdog()
        }
    }

    private func complaint() async -> String? {
        guard let watched = self.watched.withLock({ $0 }) else { return nil }
        if let since = watched.endingSince {
            let elapsed = SuspendingClock.now - since
            // Handlers may use their grace twice: when the agents stop, and when the runtime shuts down.
            let grace = watched.agents.map(\.runtime.configuration.shutdownGrace).max() ?? .zero
            let longest = max(Self.longestEnd, grace * 2 + .seconds(30))
            return elapsed > longest ? "it has been stopping for \(elapsed.text)" : nil
        }
        do {
            for agent in watched.agents {
                let health = try await agent.health()
                let limits = watched.limits.allowing(keepAlive: agent.configuration.keepAlive)
                let complaint = limits.complaint(
                    silence: health.brokerSilence, overdue: max(health.overdue, watched.overdue()))
                if let complaint { return complaint }
            }
            return nil
        } catch {
            let isEnding = self.watched.withLock { $0?.endingSince != nil }
            return isEnding ? nil : "the network thread has ended"
        }
    }
}
