/// Hands stored messages to handlers, on threads of its own, and tells the store what became of them.
///
/// May be called from any thread. Letting go of it is ``shutdown()``.
package final class DeliveryRunner: Sendable {
    let core: DeliveryCore

    /// Makes a runner; its threads start when there is work.
    ///
    /// - Parameters:
    ///   - configuration: how messages are handed over.
    ///   - store: where the messages are kept.
    ///   - observer: who is told what happens.
    ///   - threads: where its threads come from.
    ///   - clock: tells the time. A test that gives a clock of its own calls ``timeChanged()`` when it moves it.
    package init(
        configuration: DeliveryConfiguration = .init(),
        store: any DeliveryStore,
        observer: (any DeliveryObserver)? = nil,
        threads: DeliveryThreads = .init(),
        clock: @escaping @Sendable () -> MonotonicInstant = { .now() }
    ) {
        self.core = DeliveryCore(
            configuration: configuration, store: store, observer: observer, threads: threads, clock: clock)
    }

    deinit { self.core.shutdown() }

    // MARK: - Installations

    /// Starts to deliver the messages of an installation, first those that the store holds.
    package func attach(installation: Int64, id: String, receiver: any Receiver) {
        let attachment = DeliveryAttachment(id: id, receiver: receiver)
        self.core.change { state in
            guard !state.isStopped else { return }
            state.attachments[installation] = attachment
            state.machine.attached(installation)
        }
    }

    /// Stops delivering the messages of an installation. Calls that run go on, and their answers count.
    package func detach(installation: Int64) {
        let now = self.core.clock()
        self.core.change { state in
            state.attachments[installation] = nil
            // What is not decoded is given back like the rest, and before it. In hand it would look to the next process as if this
            // one had ended of it, and start before what came earlier.
            let inbound = state.takeInbound { $0 == installation }
            for last in inbound.reversed() { state.machine.declined(last.messages, of: last.load?.request) }
            state.machine.detached(installation)
            for each in inbound { state.leave(each, at: now) }
        }
    }

    /// Stops delivering the messages of an installation, and waits for its calls that run.
    ///
    /// - Parameter deadline: how long to wait, on the runner's clock.
    /// - Returns: whether all have returned; the message of one that has not stays in hand.
    @discardableResult
    package func detach(installation: Int64, until deadline: MonotonicInstant) async -> Bool {
        self.core.collectAnswers()
        self.detach(installation: installation)
        let isDrained = await withCheckedContinuation { continuation in
            self.core.change { state in
                state.drains.append(
                    .init(installation: installation, deadline: deadline, continuation: continuation))
            }
        }
        // One that has not returned may have answered meanwhile.
        if !isDrained { self.core.collectAnswers() }
        return isDrained
    }

    /// A message of the installation was made to wait in the store, to be tried again.
    package func requeued(_ sequence: Int64, installation: Int64) {
        self.core.change { $0.machine.requeued(sequence, installation: installation) }
    }

    /// A message is to be tried again now.
    ///
    /// - Returns: what delivery had of it; of one that it had in memory, nothing else is to be done.
    package func hurry(_ sequence: Int64) -> DeliveryHold {
        let now = self.core.clock()
        return self.core.change { $0.machine.hurry(sequence, now: now) }
    }

    /// A message is dropped.
    ///
    /// - Returns: what delivery had of it; one whose handler runs it has still.
    package func drop(_ sequence: Int64, installation: Int64) -> DeliveryHold {
        self.core.change { $0.machine.drop(sequence, installation: installation) }
    }

    // MARK: - Messages

    /// Asks for room for messages that are about to be stored.
    ///
    /// - Parameters:
    ///   - count: how many they are.
    ///   - installation: whose.
    ///   - bytes: ``StoredMessage/bytes`` of the one at an index.
    /// - Returns: how many of them, from the first, are to be stored as in hand and given to
    ///   ``deliver(_:)`` once that is durable. The others are to be stored as waiting.
    package func reserve(_ count: Int, installation: Int64, bytes: (Int) -> Int) -> Int {
        let now = self.core.clock()
        let granted = self.core.monitor.withLock {
            $0.isStopped ? 0 : $0.machine.reserve(count, installation: installation, now: now, bytes: bytes)
        }
        // A page is asked for when there is room; the timer sees to it that there is.
        if granted < count { self.core.staff() }
        return granted
    }

    /// Messages that ``reserve(_:installation:bytes:)`` gave no room are stored as waiting: they are read when there is some.
    package func withheldIsStored() { self.core.change { $0.machine.withheldIsStored() } }

    /// What of memory a message takes: what ``reserve(_:installation:bytes:)`` has reserved for it.
    package func weight(of bytes: Int) -> Int { self.core.scale.weight(of: bytes) }

    /// Messages came again whose rows are there already; of the room that was reserved, `reserved` by weight is not
    /// needed.
    package func repeated(_ messages: [(sequence: Int64, installation: Int64)], releasing reserved: Int) {
        self.core.change { $0.machine.repeated(messages, releasing: reserved) }
    }

    /// Gives room back, by weight, whose messages could not be stored.
    package func release(_ reserved: Int) {
        let now = self.core.clock()
        self.core.change { $0.machine.received([], releasing: reserved, now: now) }
    }

    /// Takes messages that ``reserve(_:installation:bytes:)`` gave room for, in the order of their reception: one hop for the
    /// whole batch.
    package func deliver(_ batch: [StoredMessage]) {
        guard !batch.isEmpty else { return }
        let weight = batch.reduce(0) { $0 + self.weight(of: $1.bytes) }
        let isTaken = self.core.monitor.withLock { state in
            guard !state.isStopped, !state.machine.isDraining else {
                state.machine.declined(batch)
                return false
            }
            state.inbound.append(.init(messages: batch, reserved: weight))
            return true
        }
        // The event loop's thread does no work of delivery's here.
        if isTaken { self.core.staff() } else { self.core.flush() }
    }

    /// Hands to the store what was answered until now, also by handlers that have not returned.
    package func collectAnswers() { self.core.collectAnswers() }

    /// How often what happened.
    package var counters: DeliveryCounters { self.core.monitor.withLock { $0.machine.counters } }

    /// What the messages in memory weigh, those on their way to it included.
    package var memoryWeight: Int { self.core.monitor.withLock { $0.machine.memoryWeight } }

    /// How long the running call that began first is past its deadline; zero when none is. A call that has not returned
    /// counts also when its attempt is over.
    package var overdue: Duration {
        let now = self.core.clock()
        return self.core.monitor.withLock { state in
            let configuration = state.machine.configuration
            return state.machine.calls.values.map { now - $0.deadline(configuration) }.reduce(.zero, max)
        }
    }

    /// The machine slept for this long, which the runner's clock does not show.
    package func machineSlept(_ duration: Duration) { self.core.machineSlept(duration) }

    // MARK: - Stopping

    /// Starts nothing any more, gives what is queued back to the store, and waits for what runs.
    ///
    /// - Parameter deadline: how long to wait, on the runner's clock.
    /// - Returns: whether everything has come to its end; what has not stays in hand, and is delivered again by the
    ///   next process.
    @discardableResult
    package func drain(until deadline: MonotonicInstant) async -> Bool {
        self.core.collectAnswers()
        let isDrained = await withCheckedContinuation { continuation in
            self.core.change { state in
                for last in state.takeInbound(of: { _ in true }).reversed() {
                    state.machine.declined(last.messages, of: last.load?.request)
                }
                state.machine.drain()
                state.drains.append(.init(deadline: deadline, continuation: continuation))
            }
        }
        // One that has not returned may have answered meanwhile.
        if !isDrained { self.core.collectAnswers() }
        return isDrained
    }

    /// Ends the threads; idempotent. What was answered before has been handed to the store when this returns. A handler
    /// that still runs keeps its thread until it returns, and an answer from now on does not count. Call
    /// ``drain(until:)`` first to let handlers finish.
    package func shutdown() { self.core.shutdown() }

    /// The runner's clock.
    package var now: MonotonicInstant { self.core.clock() }

    /// When ``timeChanged()`` has something to do next; `nil`: not before something else happens.
    package var nextDeadline: MonotonicInstant? { self.core.monitor.withLock { $0.nextDeadline } }

    /// How many calls may run at once, those included that are stuck.
    package var workerLimit: Int { self.core.monitor.withLock { $0.workerLimit } }

    /// Looks at the clock again: for tests that move it.
    package func timeChanged() { self.core.timerFired() }
}
