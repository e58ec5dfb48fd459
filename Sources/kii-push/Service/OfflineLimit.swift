import KiiPushCore

/// Notices that no connection has stood for too long. Time that the machine sleeps does not count.
final class OfflineLimit: Sendable {
    private let limit: Duration?
    private let whenReached: @Sendable () -> Void
    private let waiting = Locked<Task<Void, Never>?>(nil)

    /// - Parameter limit: `nil` for none.
    init(_ limit: Duration?, whenReached: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.whenReached = whenReached
    }

    deinit { self.clear() }

    /// There is no connection; told again it changes nothing.
    func offline() {
        guard let limit = self.limit else { return }
        self.waiting.withLock { waiting in
            guard waiting == nil else { return }
            waiting = Task { [whenReached] in
                if (try? await Task.sleep(for: limit, clock: SuspendingClock())) != nil { whenReached() }
            }
        }
    }

    /// A connection stands, or none is wanted any more.
    func clear() { self.waiting.withLock { $0.take() }?.cancel() }
}
