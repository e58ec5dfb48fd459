extension DeliveryCore {
    /// A worker's life.
    func work(_ number: Int) {
        let worker = DeliveryWorker(self)
        while self.waitForJob(number, worker) {
            while worker.hasCall, worker.call() == .returned { worker.callReturned() }
        }
    }

    /// Sleeps until there is something to do, and does it or has `worker` do it.
    ///
    /// - Returns: whether the thread goes on.
    private func waitForJob(_ number: Int, _ worker: DeliveryWorker) -> Bool {
        var isWaiting = false
        let job: DeliveryState.Job? = self.monitor.wait(for: .work) { state in
            if isWaiting {
                isWaiting = false
                state.idle -= 1
                if state.signalled > 0 { state.signalled -= 1 }
            }
            state.workers[number]?.isInCall = false
            guard !state.isStopped, state.workers.count <= state.workerLimit else {
                // Whoever stops delivery waits for this thread, if it is still listed; a surplus one goes unwaited for.
                if !state.isStopped { state.workers.removeValue(forKey: number)?.thread?.detach() }
                return .leave(nil)
            }
            guard let job = worker.takeJob(of: &state) else {
                isWaiting = true
                state.idle += 1
                return .sleep(until: nil)
            }
            if case .handle = job { state.workers[number]?.isInCall = true }
            return .leave(job)
        }
        guard let job else { return false }
        worker.begin(job)
        return true
    }

    /// The timer's life.
    func keepTime() {
        while true {
            let isStopped: Bool = self.monitor.wait(for: .time) { state in
                state.isTimerAsleep = false
                state.timerWakesAt = nil
                guard !state.isStopped else { return .leave(true) }
                guard let deadline = state.nextDeadline else {
                    state.isTimerAsleep = true
                    return .sleep(until: nil)
                }
                let now = self.clock()
                guard deadline > now else { return .leave(false) }
                state.isTimerAsleep = true
                state.timerWakesAt = deadline
                // The condition waits by the machine's clock, whatever clock delivery was given.
                return .sleep(until: MonotonicInstant.now() + (deadline - now))
            }
            if isStopped { return }
            self.timerFired()
        }
    }

    /// Ends every thread that does not run a handler, and waits for it. The others end when their handlers return.
    func shutdown() {
        let (threads, tasks) = self.monitor.withLock { state -> ([DeliveryThread], [Task<Void, Never>]) in
            guard !state.isStopped else { return ([], []) }
            state.isStopped = true
            for (call, gate) in state.gates {
                // Answers that were given before count; from now on none does.
                gate.examine(call) { progress in
                    state.machine.reported(call, progress, now: self.clock())
                    return true
                }
            }
            var threads: [DeliveryThread] = []
            for worker in state.workers.values {
                guard let thread = worker.thread else { continue }
                if worker.isInCall || thread.isCurrent { thread.detach() } else { threads.append(thread) }
            }
            if let timer = state.timer { if timer.isCurrent { timer.detach() } else { threads.append(timer) } }
            state.workers = [:]
            state.timer = nil
            return (threads, Array(state.tasks.values))
        }
        for task in tasks { task.cancel() }
        self.monitor.signalAll()
        self.flush()
        self.waitForFlush()
        for thread in threads { thread.join() }
    }

    /// Waits until what was answered is with the store: another thread may be about to hand it over.
    private func waitForFlush() {
        self.monitor.wait(for: .work) { state in
            state.flusher.map { !$0.isCurrent } ?? false ? .sleep(until: nil) : .leave(())
        }
    }

    // MARK: - Work

    func decode(_ inbound: DeliveryState.Inbound, _ attachments: [Int64: DeliveryAttachment]) {
        // An installation that was detached meanwhile takes whatever its next handler takes: nothing is refused here.
        let batch = DecodedBatch(inbound.messages) { attachments[$0].map { $0.commandHandler != nil } ?? true }
        let now = self.clock()
        self.change { state in
            state.isDecoding = false
            for refused in batch.refused { state.machine.refused(refused.stored, refused.reason) }
            if let load = inbound.load {
                state.machine.loaded(load.request, load.page, messages: batch.messages, now: now)
            } else {
                state.machine.received(batch.messages, releasing: inbound.reserved, now: now)
            }
        }
    }
}
