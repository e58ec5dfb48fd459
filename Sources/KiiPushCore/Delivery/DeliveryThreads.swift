package struct DeliveryThreads: Sendable {
    package var start: @Sendable (String, @escaping @Sendable () -> Void) throws(SystemError) -> OSThread
    private(set) var onWork: (@Sendable () -> Void)?

    /// The owner of the ``Workers`` runs a ``Worker`` itself. Delivery calls `onWork` when there may be work; `onWork`
    /// must return before that work begins.
    package static func none(onWork: @escaping @Sendable () -> Void) -> DeliveryThreads {
        var threads = DeliveryThreads()
        threads.onWork = onWork
        return threads
    }

    package init(
        start: @escaping @Sendable (String, @escaping @Sendable () -> Void) throws(SystemError) -> OSThread = {
            name, body throws(SystemError) in try OSThread(name: name, body)
        }
    ) {
        self.start = start
    }
}
