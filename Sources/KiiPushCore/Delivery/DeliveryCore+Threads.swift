extension DeliveryCore {
    /// A worker's life.
    func work(_ number: Int) {
        let gate = CallGate(self)
        while true {
            switch self.nextJob(number, gate) {
            case .leave: return
            case .decode(let inbound, let attachments): self.decode(inbound, attachments)
            case .handle(let claim, let attachment, at: let now):
                self.handle(claim, attachment, gate, at: now)
            }
        }
    }

    private func nextJob(_ number: Int, _ gate: CallGate) -> DeliveryState.Job {
        var isWaiting = false
        let job: DeliveryState.Job = self.monitor.wait(for: .work) { state in
            if isWaiting {
                isWaiting = false
                state.idle -= 1
                if state.signalled > 0 { state.signalled -= 1 }
            }
            state.workers[number]?.isInCall = false
            guard !state.isStopped, state.workers.count <= state.workerLimit else {
                // Whoever stops delivery waits for this thread, if it is still listed; a surplus one goes unwaited for.
                if !state.isStopped { state.workers.removeValue(forKey: number)?.thread?.detach() }
                return .leave(.leave)
            }
            guard let job = state.nextJob(at: self.clock()) else {
                isWaiting = true
                state.idle += 1
                return .sleep(until: nil)
            }
            if case .handle(let claim, _, at: let now) = job {
                gate.begin(claim.call, messages: claim.messages.count, at: now)
                state.gates[claim.call] = gate
                state.workers[number]?.isInCall = true
            }
            return .leave(job)
        }
        if case .leave = job { return job }
        // What this claim started may include a deadline, and there may be more work than this thread takes.
        self.flush()
        self.staff()
        return job
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

    private func decode(_ inbound: DeliveryState.Inbound, _ attachments: [Int64: DeliveryAttachment]) {
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

    private func handle(
        _ claim: DeliveryClaim<DecodedMessage>, _ attachment: DeliveryAttachment?, _ gate: CallGate,
        at claimedAt: MonotonicInstant
    ) {
        var serial = gate.serial
        var index = 0
        var deadline = claim.deadline
        while true {
            let call = HandlerCall(
                message: claim.messages[index],
                attempt: claim.attempts[index],
                deadline: deadline,
                serial: serial,
                call: claim.call
            )
            if let task = call.invoke(attachment, gate), !gate.hasEnded(serial),
                self.leave(claim.call, gate, serial, to: task)
            {
                return
            }
            switch gate.next(claimedAt: claimedAt, isLast: index == claim.messages.count - 1) {
            case .stop: return self.returned(claim.call, gate)
            case .start(let now):
                index += 1
                serial += 1
                let whole = now + self.configuration.deadline
                deadline = claim.messages[index].answerBy.map { min(whole, $0) } ?? whole
            }
        }
    }
}
