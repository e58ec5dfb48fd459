import KiiPushCore

/// Calls `whenReached` when the agent has been offline for longer than the limit. Time in which the machine sleeps does
/// not count.
final class OfflineLimit: Sendable {
    private let limit: Duration?
    private let whenReached: @Sendable () -> Void
    private let waiting = Locked<Task<Void, Never>?>(nil)

    init(_ limit: Duration?, whenReached: @escaping @Sendable () -> Void) {
        (self.limit, self.whenReached) = (limit, whenReached)
    }

    deinit { self.clear() }

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

    func clear() { self.waiting.withLock { $0.take() }?.cancel() }
}
