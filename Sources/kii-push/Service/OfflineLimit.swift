import KiiPushCore

/// Calls `whenReached` once the agent has been offline for longer than the limit. The time does not count while the
/// machine sleeps.
final class OfflineLimit: Sendable {
    private let limit: Duration?
    private let whenReached: @Sendable () -> Void
    private let waiting = Locked<Task<Void, Never>?>(nil)

    init(_ limit: Duration?, whenReached: @escaping @Sendable () -> Void) {
        (self.limit, self.whenReached) = (limit, whenReached)
    }

    deinit { self.clear() }

    /// Starts the time after a lost connection, unless it runs already.
    func offline() {
        guard let limit = self.limit else { return }
        self.waiting.withLock { waiting in
            guard waiting == nil else { return }
            waiting = Task { [whenReached] in
                try? await Task.sleep(for: limit, clock: SuspendingClock())
                if !Task.isCancelled { whenReached() }
            }
        }
    }

    /// Stops the time: the agent is connected, or is stopping.
    func clear() { self.waiting.withLock { $0.take() }?.cancel() }
}
