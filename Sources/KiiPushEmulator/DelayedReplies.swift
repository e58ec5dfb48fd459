import KiiPushCore

final class DelayedReplies: Sendable {
    private typealias Reply = (due: MonotonicInstant, give: @Sendable () -> Void)

    private let thread = PollThread<Reply>(name: "kii-delayed", watchesDescriptors: false)

    /// Calls `give` after `delay`, or earlier when ``stop()`` is called. If no thread can be started, calls `give` at
    /// once.
    func after(_ delay: Duration, _ give: @escaping @Sendable () -> Void) {
        guard delay > .zero, (try? self.thread.start { Loop() }) != nil, self.thread.send((.now() + delay, give)) else {
            return give()
        }
    }

    func stop() {
        self.thread.stop()
        self.thread.join()
    }

    private struct Loop: PollLoop {
        private var waiting: [Reply] = []

        mutating func turn(_ replies: [Reply], readable: Set<Int32>) -> PollWait? {
            self.waiting += replies
            let now = MonotonicInstant.now()
            for reply in self.waiting where reply.due <= now { reply.give() }
            self.waiting.removeAll { $0.due <= now }
            return PollWait(until: self.waiting.map { $0.due }.min())
        }

        func end(_ unread: [Reply]) {
            for reply in self.waiting + unread { reply.give() }
        }
    }
}
