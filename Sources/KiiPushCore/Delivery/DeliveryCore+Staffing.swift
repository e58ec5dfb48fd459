extension DeliveryCore {
    /// How long no thread is asked for after the system gave none.
    private static let threadRetryInterval: Duration = .seconds(1)

    /// Wakes or starts threads for the work there is.
    func staff() {
        if let onWork = self.threads.onWork { return onWork() }
        let staffing = self.monitor.withLock { $0.staff() }
        if staffing.signals > 0 { self.monitor.signal(.work, times: staffing.signals) }
        if staffing.signalsTimer { self.monitor.signal(.time) }
        for worker in staffing.newWorkers { self.startWorker(worker) }
        if staffing.startsTimer { self.startTimer() }
    }

    private func startWorker(_ number: Int) {
        let thread = self.startThread { [self] in self.work(number) }
        let orphan: DeliveryThread? = self.monitor.withLock { state in
            guard let thread else {
                state.workers[number] = nil
                return nil
            }
            guard state.workers[number] != nil else { return thread }
            state.workers[number]?.thread = thread
            return nil
        }
        // It has left already, or was forgotten in a shutdown.
        orphan?.detach()
    }

    private func startTimer() {
        let thread = self.startThread { [self] in self.keepTime() }
        let orphan: DeliveryThread? = self.monitor.withLock { state in
            guard let thread else {
                state.isTimerStarted = false
                return nil
            }
            guard !state.isStopped else { return thread }
            state.timer = thread
            return nil
        }
        orphan?.join()
    }

    /// Starts a thread; if none is to be had, tells so once and has it tried again later.
    private func startThread(_ body: @escaping @Sendable () -> Void) -> DeliveryThread? {
        do throws(ThreadError) {
            let thread = try self.threads.start(self.configuration.threadName, body)
            let isRecovered = self.monitor.withLock { state in
                defer { state.isStalled = false }
                return state.isStalled
            }
            if isRecovered { self.observer?.deliveryRecovered() }
            return thread
        } catch {
            let (isFirst, isToBePlanned) = self.monitor.withLock { state in
                defer {
                    state.isStalled = true
                    state.isRetryPlanned = self.threads.later != nil
                }
                return (!state.isStalled, !state.isRetryPlanned)
            }
            if isFirst { self.observer?.deliveryStalled(.noThread(error)) }
            if isToBePlanned { self.threads.later?(Self.threadRetryInterval) { [weak self] in self?.tryAgain() } }
            return nil
        }
    }

    /// Asks for threads again. Deadlines are looked at as well, since it may be the timer that has no thread.
    private func tryAgain() {
        self.monitor.withLock { $0.isRetryPlanned = false }
        self.timerFired()
    }
}
