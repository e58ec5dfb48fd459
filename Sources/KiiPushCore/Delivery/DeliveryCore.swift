/// The threads of delivery and what they share. Threads hold it, so it lives until the last one has left;
/// ``DeliveryRunner`` is what its owner holds.
final class DeliveryCore: Sendable {
    let configuration: DeliveryConfiguration
    let scale: DeliveryScale
    let clock: @Sendable () -> MonotonicInstant
    let monitor: DeliveryMonitor<DeliveryState>
    let store: any DeliveryStore
    let observer: (any DeliveryObserver)?
    let threads: DeliveryThreads

    init(
        configuration: DeliveryConfiguration,
        store: any DeliveryStore,
        observer: (any DeliveryObserver)?,
        threads: DeliveryThreads,
        clock: @escaping @Sendable () -> MonotonicInstant
    ) {
        self.configuration = configuration
        self.scale = configuration.scale
        self.store = store
        self.observer = observer
        self.threads = threads
        self.clock = clock
        var machine = DeliveryState.Machine(configuration: configuration)
        machine.isObserved = observer != nil
        self.monitor = DeliveryMonitor(DeliveryState(machine: machine))
    }

    /// Changes the state, then does outside the lock what follows from the change: output, threads, wake-ups.
    func change<Result: Sendable>(_ body: (inout DeliveryState) -> Result) -> Result {
        let result = self.monitor.withLock { body(&$0) }
        self.flush()
        self.staff()
        return result
    }

    // MARK: - Answers and calls

    /// An answer that no thread's report carries.
    func answered(_ ticket: AnswerTicket, _ verdict: HandlerVerdict) -> Bool {
        let now = self.clock()
        return self.change { state in
            guard !state.isStopped else { return false }
            return state.machine.answered(ticket.key, call: ticket.call, verdict, now: now)
        }
    }

    /// A call that takes long was answered and goes on.
    func report(_ call: Int, _ gate: CallGate) {
        let now = self.clock()
        self.change { $0.collect(call, gate, at: now) }
    }

    /// Hands over what was answered in calls that go on: the thread of a handler that answers at once reports that when
    /// the handler has returned.
    func collectAnswers() {
        let now = self.clock()
        self.change { state in
            for (call, gate) in state.gates { state.collect(call, gate, at: now) }
        }
    }

    /// A thread's part in a call is over.
    func returned(_ call: Int, _ gate: CallGate) {
        let now = self.clock()
        self.change { state in
            state.gates[call] = nil
            state.collections[call] = nil
            let (progress, isUnanswered) = gate.finish()
            state.machine.returned(call, progress, isUnanswered: isUnanswered, now: now)
        }
    }

    /// A thread leaves an asynchronous call to its task; false if the call is over by now.
    func leave(_ call: Int, _ gate: CallGate, _ serial: Int, to task: Task<Void, Never>) -> Bool {
        let now = self.clock()
        let (isLeft, isTooLate) = self.change { state in
            guard let progress = gate.leave(serial) else { return (false, false) }
            state.gates[call] = nil
            state.collections[call] = nil
            state.machine.cutShort(call, progress, now: now)
            guard state.machine.isRunning(call) else { return (true, false) }
            state.tasks[call] = task
            return (true, state.machine.isOver(call) || state.isStopped)
        }
        if isTooLate { task.cancel() }
        return isLeft
    }

    /// An asynchronous call's task is over.
    func asyncCallEnded(_ call: Int) {
        let now = self.clock()
        self.change { state in
            state.tasks[call] = nil
            state.machine.returned(call, now: now)
        }
    }

    // MARK: - Time

    /// Deadlines and retries that are due.
    func timerFired() {
        let now = self.clock()
        self.change { state in
            state.collectDue(at: now)
            for call in state.machine.overdueCalls(now: now) {
                state.collections[call] = nil
                state.gates[call]?.examine(call) { progress in
                    state.machine.reported(call, progress, now: now)
                    return state.machine.isOverdue(call, now: now)
                }
            }
            state.machine.timerFired(now: now)
        }
    }

    /// The machine slept; what was due meanwhile is due now.
    func machineSlept(_ duration: Duration) {
        let now = self.clock()
        self.change { $0.machine.machineSlept(duration, now: now) }
        self.timerFired()
    }

    // MARK: - Output

    /// Hands out what the machine has asked for. One thread at a time; whoever comes meanwhile leaves it to that one.
    func flush() {
        var isMine = false
        while true {
            let now = self.clock()
            let (output, drains, isWaitedFor) = self.monitor.withLock { state -> (DeliveryOutput?, [_], Bool) in
                if isMine { state.flusher = nil }
                guard state.flusher == nil, !state.machine.output.isEmpty else {
                    return (nil, state.takeFinishedDrains(now: now), isMine && state.isStopped)
                }
                state.flusher = DeliveryThread.current
                return (state.machine.takeOutput(), [], false)
            }
            for (continuation, isDrained) in drains { continuation.resume(returning: isDrained) }
            if isWaitedFor { self.monitor.signalAll() }
            guard let output else { return }
            isMine = true
            self.perform(output)
        }
    }

    private func perform(_ output: DeliveryOutput) {
        if !output.changes.isEmpty { self.store.record(output.changes) }
        for commitment in output.commitments {
            self.store.record(commitment.changes) { [weak self] in
                self?.change { $0.machine.committed(commitment.keys) }
            }
        }
        for load in output.loads {
            self.store.load(load) { [weak self] page in
                guard let self else { return }
                let now = self.clock()
                self.change { state in
                    let inbound = DeliveryState.Inbound(messages: page.messages, load: (load, page))
                    let isDraining = state.machine.isDraining || state.isStopped
                    guard isDraining || state.attachments[load.installation] == nil else {
                        return state.inbound.append(inbound)
                    }
                    // The store has marked them as in hand, and nobody will take them.
                    state.machine.declined(page.messages, of: load)
                    if !isDraining { state.leave(inbound, at: now) }
                }
            }
        }
        if !output.cancellations.isEmpty {
            let tasks = self.monitor.withLock { state in output.cancellations.compactMap { state.tasks[$0] } }
            for task in tasks { task.cancel() }
        }
        if !output.events.isEmpty { self.observer?.deliveryHappened(output.events) }
        for stall in output.stalls {
            if let stall { self.observer?.deliveryStalled(stall) } else { self.observer?.deliveryRecovered() }
        }
    }
}
