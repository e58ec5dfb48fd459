/// Delivery's letters to the store: taken at any time on any thread, opened once a turn on the loop's.
final class DeliveryMailbox: DeliveryStore {
    private let orders = Locked<[DeliveryOrder]>([])
    private let wake: @Sendable () -> Void

    /// - Parameter wake: makes the loop take another turn.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    func record(_ changes: [DeliveryChange]) {
        self.post(.record(changes, committed: nil))
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.post(.record(changes, committed: committed))
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        self.post(.load(request, deliver: deliver))
    }

    /// Everything posted since the last time.
    func take() -> [DeliveryOrder] {
        self.orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }

    private func post(_ order: DeliveryOrder) {
        let isFirst = self.orders.withLock { orders in
            orders.append(order)
            return orders.count == 1
        }
        // One wake-up is enough for all that is posted before the loop looks.
        if isFirst { self.wake() }
    }
}
