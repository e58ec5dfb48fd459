final class CallQueue: Sendable {
    private struct State: Sendable {
        var calls = Fifo<DeliveryCall>()
        var running = 0
        var places = 0
        /// `idle` workers wait for a call. The queue has signalled `woken` of them, which have not run yet.
        var idle = 0
        var woken = 0
        var workers = 0
        var busy = 0
        var isStopped = false

        mutating func next() -> DeliveryCall? {
            guard self.running < self.places, !self.isStopped, let call = self.calls.popFirst() else { return nil }
            self.running += 1
            return call
        }

        mutating func wakesOne() -> Bool {
            guard self.idle > self.woken, self.running + self.woken < self.places, self.calls.count > self.woken
            else { return false }
            self.woken += 1
            return true
        }
    }

    private let state: Monitor<State>

    init(places: Int) { self.state = Monitor(State(places: places)) }

    // MARK: - The loop's side

    /// Wakes no worker: the caller must call ``wakeAnother()`` next.
    func append(_ calls: [DeliveryCall]) { self.state.withLock { for call in calls { $0.calls.append(call) } } }

    /// Wakes one worker if a call waits. `isMissing`: the caller should start a worker, since none is idle. `hasMore`:
    /// the caller should call this again.
    func wakeAnother() -> (isMissing: Bool, hasMore: Bool) {
        let (wakes, isMissing, hasMore) = self.state.withLock { state -> (Bool, Bool, Bool) in
            let wakes = state.wakesOne()
            let left = min(state.places - state.running, state.calls.count) - state.woken
            let isMissing = !wakes && left > 0 && state.workers < state.places && !state.isStopped
            return (wakes, isMissing, left > (isMissing ? 1 : 0))
        }
        if wakes { self.state.signal() }
        return (isMissing, hasMore)
    }

    func recall(_ id: CallID) -> Bool {
        self.state.withLock { state in !state.calls.removeAll { $0.id == id }.isEmpty }
    }

    func setPlaces(_ places: Int) -> Bool {
        let (isMore, isSurplus) = self.state.withLock { state in
            defer { state.places = places }
            return (places > state.places, places < state.places && state.workers > places)
        }
        if isSurplus { self.state.signalAll() }
        return isMore
    }

    /// Ends every worker. Waits for the workers without a call.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.state.signalAll()
        self.state.wait { $0.workers <= $0.busy ? .leave(()) : .sleep(until: nil) }
    }

    // MARK: - The workers' side

    var isWaitedFor: Bool { self.state.withLock { !$0.calls.isEmpty } }

    func take() -> DeliveryCall? { self.state.withLock { $0.next() } }

    func leave() {
        let wakes = self.state.withLock { state in
            state.running -= 1
            return state.wakesOne()
        }
        if wakes { self.state.signal() }
    }

    func enter() -> Bool {
        self.state.withLock { state in
            guard state.workers < state.places, !state.isStopped else { return false }
            state.workers += 1
            return true
        }
    }

    func exit() {
        self.state.withLock { $0.workers -= 1 }
        self.state.signalAll()
    }

    /// Returns `nil` if the worker must end. `isBack`: the worker had a call. `hasLeft`: that call is over, so this
    /// function frees its place.
    func wait(isBack: Bool, hasLeft: Bool) -> DeliveryCall? {
        var (isWaiting, isFirst) = (false, true)
        let call: DeliveryCall? = self.state.wait { state in
            if isFirst {
                if hasLeft { state.running -= 1 }
                if isBack { state.busy -= 1 }
                isFirst = false
            }
            if isWaiting {
                isWaiting = false
                state.idle -= 1
                if state.woken > 0 { state.woken -= 1 }
            }
            guard !state.isStopped, state.workers <= state.places else {
                state.workers -= 1
                return .leave(nil)
            }
            if let call = state.next() {
                state.busy += 1
                return .leave(call)
            }
            isWaiting = true
            state.idle += 1
            return .sleep(until: nil)
        }
        if call == nil { self.state.signalAll() }
        return call
    }
}
