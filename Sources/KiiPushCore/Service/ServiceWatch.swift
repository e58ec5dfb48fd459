/// Watches over the agents of a service, and feeds the service manager's watchdog while they are alive.
package final class ServiceWatch: Sendable {
    package struct Watched: Sendable {
        fileprivate let agents: [PushAgent]
        fileprivate let limits: Watchdog.Limits
        /// Returns the delay of an attempt outside this process beyond its deadline; zero when none is late.
        fileprivate let overdue: @Sendable () -> Duration
        /// Returns the status text that replaces the complaint once the agents are alive again.
        fileprivate let status: @Sendable () -> String
        /// The start of the stop. Its clock stands still while the machine sleeps, as the watchdog's does.
        fileprivate var endingSince: SuspendingClock.Instant?

        package init(
            _ agents: [PushAgent], limits: Watchdog.Limits = .init(),
            overdue: @escaping @Sendable () -> Duration = { .zero },
            status: @escaping @Sendable () -> String
        ) {
            (self.agents, self.limits, self.overdue, self.status) = (agents, limits, overdue, status)
        }
    }

    private static let longestEnd = Duration.seconds(90)

    private let notifier: ServiceNotifier
    private let watched = Locked<Watched?>(nil)

    package init(_ notifier: ServiceNotifier) { self.notifier = notifier }

    package func begin(_ watched: Watched) { self.watched.withLock { $0 = watched } }
    package func end() { self.watched.withLock { $0?.endingSince = .now } }

    /// Feeds `watchdog`, if there is one, until the task is cancelled.
    ///
    /// - Parameter report: called once with the reason when feeding stops, and with `nil` when it resumes.
    package func feed(_ watchdog: Watchdog?, report: (_ complaint: String?) -> Void = { _ in }) async {
        guard let watchdog else { return }
        await watchdog.run(
            pause: { try await Task.sleep(for: $0) }, check: { await self.complaint(watchdog) },
            feed: { self.notifier.feedWatchdog() },
            complain: { reason in
                report(reason)
                self.notifier.status("not alive: \(reason)")
            },
            recover: {
                report(nil)
                // A stopping service has already reported its state.
                guard let watched = self.watched.withLock({ $0 }), watched.endingSince == nil else { return }
                self.notifier.status(watched.status())
            })
    }

    private func complaint(_ watchdog: Watchdog) async -> String? {
        guard let watched = self.watched.withLock({ $0 }) else { return nil }
        if let since = watched.endingSince {
            let elapsed = SuspendingClock.now - since
            // Handlers may take all of their grace, once when the agents stop and once when the runtime does.
            let grace = watched.agents.map(\.runtime.configuration.shutdownGrace).max() ?? .zero
            let longest = max(Self.longestEnd, grace * 2 + .seconds(30))
            return elapsed > longest ? "it has been stopping for \(elapsed.text)" : nil
        }
        do {
            for agent in watched.agents {
                let health = try await agent.health()
                let limits = watched.limits.allowing(keepAlive: agent.configuration.keepAlive)
                let complaint = watchdog.complaint(health, attemptOverdue: watched.overdue(), limits)
                if let complaint { return complaint }
            }
            return nil
        } catch {
            // The stop may have begun meanwhile.
            let isEnding = self.watched.withLock { $0?.endingSince != nil }
            return isEnding ? nil : "the network thread has ended"
        }
    }
}
