/// Where delivery gets its threads from.
package struct DeliveryThreads: Sendable {
    package var start: @Sendable (String, @escaping @Sendable () -> Void) throws(SystemError) -> OSThread
    /// Called in place of starting and waking threads. `nil`: threads do the work.
    private(set) var onWork: (@Sendable () -> Void)?

    /// No threads: whoever made the ``Workers`` does their work, by ``Worker``. `onWork` is called when there may be
    /// something to do, and must not do it before it returns.
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
