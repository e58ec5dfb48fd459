package final class ServiceWatch: Sendable {
    package struct Watched: Sendable {
        fileprivate let agents: [PushAgent]
        fileprivate let limits: Watchdog.Limits
        /// The longest time that another process is past the deadline for a message; zero if none is late.
        fileprivate let overdue: @Sendable () -> Duration
        fileprivate let status: @Sendable () -> String
        /// Like systemd's watchdog, this clock does not count sleeps of the machine.
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

    /// - Parameter report: called with the reason when feeding stops, and with `nil` when feeding resumes.
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
                guard let watched = self.watched.withLock({ $0 }), watched.endingSince == nil else { return }
                self.notifier.status(watched.status())
            })
    }

    private func complaint(_ watchdog: Watchdog) async -> String? {
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
                let complaint = watchdog.complaint(health, attemptOverdue: watched.overdue(), limits)
                if let complaint { return complaint }
            }
            return nil
        } catch {
            let isEnding = self.watched.withLock { $0?.endingSince != nil }
            return isEnding ? nil : "the network thread has ended"
        }
    }
}
