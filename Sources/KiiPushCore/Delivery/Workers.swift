/// The threads that call handlers, started when there is work for them.
package final class Workers: Sendable {
    let box: AnswerBox
    let queue: CallQueue
    let configuration: DeliveryConfiguration
    private let threads: DeliveryThreads

    /// - Parameter wake: wakes the loop's thread. Called on any thread.
    package init(
        configuration: DeliveryConfiguration, threads: DeliveryThreads, commitsWork: Bool = false,
        clock: @escaping @Sendable () -> MonotonicInstant, wake: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.threads = threads
        self.box = AnswerBox(commitsWork: commitsWork, clock: clock, wake: wake)
        self.queue = CallQueue(places: max(1, configuration.concurrentHandlers))
    }

    package func makeWorker() -> Worker { Worker(self) }

    /// Wakes no worker: the caller must call ``staff()`` next.
    func hand(_ calls: [DeliveryCall]) {
        self.box.open(calls)
        self.queue.append(calls)
    }

    /// Wakes or starts one worker if a call waits. Returns true if the caller should call this again.
    func staff() throws(SystemError) -> Bool {
        if let onWork = self.threads.onWork {
            onWork()
            return false
        }
        let (isMissing, hasMore) = self.queue.wakeAnother()
        guard isMissing, self.queue.enter() else { return hasMore }
        do throws(SystemError) {
            try self.threads.start("kii-delivery") { [self] in self.work() }.detach()
        } catch {
            self.queue.exit()
            throw error
        }
        return hasMore
    }

    private func work() {
        let worker = Worker(self, isThread: true)
        var isBack = false
        while let call = self.queue.wait(isBack: isBack, hasLeft: worker.takeLeave()) {
            isBack = true
            worker.begin(call)
            while worker.hasCall, worker.makeCall() == .returned { worker.callReturned() }
        }
    }

    /// Ends the workers, and waits for threads that run no handler. No further answer counts.
    package func shutdown() {
        for task in self.box.stop() { task.cancel() }
        self.queue.stop()
    }
}
