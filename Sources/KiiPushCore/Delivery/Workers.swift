/// Those who call the handlers: threads of delivery's own, started when there is work for them.
package final class Workers: Sendable {
    /// How long no thread is asked for after the system gave none.
    static let threadRetryInterval: Duration = .seconds(1)

    let box: AnswerBox
    let queue: CallQueue
    let configuration: DeliveryConfiguration
    private let threads: DeliveryThreads

    /// - Parameters:
    ///   - configuration: how messages are handed over.
    ///   - threads: where the threads come from.
    ///   - clock: tells the time.
    ///   - wake: makes the loop take a turn. Called on any thread.
    package init(
        configuration: DeliveryConfiguration, threads: DeliveryThreads,
        clock: @escaping @Sendable () -> MonotonicInstant, wake: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.threads = threads
        self.box = AnswerBox(clock: clock, wake: wake)
        self.queue = CallQueue(places: max(1, configuration.concurrentHandlers))
    }

    /// A worker where there are no threads.
    package func makeWorker() -> Worker { Worker(self) }

    /// Hands calls to workers. ``staff()`` follows.
    func hand(_ calls: [DeliveryCall]) {
        self.box.open(calls)
        self.queue.append(calls)
    }

    /// Sees to it that a worker comes for work that is left, one at a time.
    ///
    /// - Returns: whether there may be more to do in a while.
    /// - Throws: ``ThreadError`` when the system gives no thread.
    func staff() throws(ThreadError) -> Bool {
        if let onWork = self.threads.onWork {
            onWork()
            return false
        }
        let (isMissing, hasMore) = self.queue.wakeAnother()
        guard isMissing, self.queue.enter() else { return hasMore }
        do throws(ThreadError) {
            try self.threads.start("kii-delivery") { [self] in self.work() }.detach()
        } catch {
            self.queue.exit()
            throw error
        }
        return hasMore
    }

    /// A thread's life.
    private func work() {
        let worker = Worker(self)
        worker.isThread = true
        var isBack = false
        while let call = self.queue.wait(isBack: isBack, hasLeft: worker.takeLeave()) {
            isBack = true
            worker.begin(call)
            while worker.hasCall, worker.makeCall() == .returned { worker.callReturned() }
        }
    }

    /// Ends every thread that does not run a handler, and waits for it. The others end when their handlers return. An
    /// answer from now on does not count.
    package func shutdown() {
        for task in self.box.stop() { task.cancel() }
        self.queue.stop()
    }
}
