import KiiPushCore

/// Watches over the session of `run`, and tells the service manager's watchdog that it is alive.
final class ServiceWatch: Sendable {
    private struct Watched: Sendable {
        var session: RunSession
        /// Since when it is being ended. Stands still while the machine sleeps, as the watchdog does.
        var endingSince: SuspendingClock.Instant?
    }

    private static let longestEnd = Duration.seconds(90)

    private let console: Console
    private let notifier: ServiceNotifier
    private let watched = Locked<Watched?>(nil)

    init(console: Console, notifier: ServiceNotifier) { (self.console, self.notifier) = (console, notifier) }

    func begin(_ session: RunSession) { self.watched.withLock { $0 = Watched(session: session) } }
    func end() { self.watched.withLock { $0?.endingSince = .now } }

    /// Feeds `watchdog` until the task is cancelled.
    func feed(_ watchdog: Watchdog) async {
        await watchdog.run(
            pause: { try await Task.sleep(for: $0) }, check: { await self.complaint(watchdog) },
            feed: { self.notifier.feedWatchdog() },
            complain: { reason in
                self.console.warning("the watchdog is not fed: \(reason)")
                self.notifier.status("not alive: \(reason)")
            },
            recover: {
                self.console.status("> The watchdog is fed again.")
                // A session that ends has said so, and that is its state.
                guard let watched = self.watched.withLock({ $0 }), watched.endingSince == nil else { return }
                self.notifier.status(watched.session.status.connection.text)
            })
    }

    private func complaint(_ watchdog: Watchdog) async -> String? {
        guard let watched = self.watched.withLock({ $0 }) else { return nil }
        if let since = watched.endingSince {
            let elapsed = SuspendingClock.now - since
            return elapsed > Self.longestEnd ? "it has been stopping for \(elapsed.text)" : nil
        }
        do {
            let health = try await watched.session.agent.health()
            return watchdog.complaint(
                health, attemptOverdue: watched.session.receiver.notes.overdue(),
                Watchdog.Limits(grace: watched.session.settings.grace))
        } catch {
            // It may have begun to end meanwhile.
            let isEnding = self.watched.withLock { $0?.endingSince != nil }
            return isEnding ? nil : "the network thread has ended"
        }
    }
}
