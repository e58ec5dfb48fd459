import KiiPushCore

/// The event loop of one process, with turns like those of ``EventLoop`` on the clock of a history.
final class SimulatedLoop: Loop {
    /// As ``EventLoop/Configuration/connectTimeout``.
    private static let connectTimeout: Duration = .seconds(10)

    private let timeline: Timeline
    private let timers = TimerHeap()
    private let connect: (SimulatedStream, StreamTarget) -> Void
    private var dice: Dice
    private var streams: [SimulatedStream] = []
    private var nextTurn: MonotonicInstant?
    private var planned: MonotonicInstant?
    private var toRun: [() -> Void] = []
    private(set) var now: MonotonicInstant
    let clocks: Clocks
    var turnDelegate: (any TurnDelegate)?
    var isDead = false
    var turnEnded: () -> Void = {}

    init(
        _ timeline: Timeline, clocks: Clocks, dice: Dice, connect: @escaping (SimulatedStream, StreamTarget) -> Void
    ) {
        self.timeline = timeline
        self.clocks = clocks
        self.dice = dice
        self.connect = connect
        self.now = timeline.now
    }

    // MARK: - Loop

    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        let stream = SimulatedStream(self, delegate)
        self.streams.append(stream)
        self.connect(stream, target)
        self.timeline.after(SimulatedLoop.connectTimeout) { [weak stream] in stream?.giveUpConnecting() }
        return stream
    }

    @discardableResult
    func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        defer { self.plan() }
        return self.timers.schedule(at: deadline, body)
    }

    func cancel(_ timer: TimerID) { self.timers.cancel(timer) }

    // MARK: - Turns

    func submit(_ body: @escaping () -> Void) {
        self.toRun.append(body)
        self.wake()
    }

    /// Sometimes the turn comes later, as on a busy machine.
    func wake() { self.takeTurn(at: self.timeline.now + self.dice.milliseconds(0...(self.dice.percent(5) ? 80 : 1))) }

    private func takeTurn(at time: MonotonicInstant) {
        guard !self.isDead, self.nextTurn.map({ time < $0 }) ?? true else { return }
        self.nextTurn = time
        self.timeline.at(time) { [weak self] in
            // Another turn may have replaced this one.
            guard let self, self.nextTurn == time else { return }
            self.nextTurn = nil
            self.turn()
        }
    }

    private func plan() {
        guard let deadline = self.timers.nextDeadline(), self.nextTurn == nil || deadline != self.planned else {
            return
        }
        self.planned = deadline
        // Rounded up to the millisecond, as in `poll`.
        self.takeTurn(at: deadline + .microseconds(self.dice.number(0...999)))
    }

    private func turn() {
        guard !self.isDead else { return }
        self.now = self.timeline.now
        let commands = self.toRun
        self.toRun = []
        for command in commands { command() }
        let horizon = self.timers.horizon
        while !self.isDead, let body = self.timers.popDue(at: self.now, before: horizon) { body() }
        for stream in self.streams where !self.isDead {
            stream.handOver { self.turnDelegate?.isSaturated ?? false }
        }
        self.commitAndFlush()
        self.streams.removeAll { $0.isClosed }
        guard !self.isDead else { return }
        self.turnEnded()
        if self.streams.contains(where: { $0.hasWork }) || !self.toRun.isEmpty { self.wake() }
        self.plan()
    }

    func end() {
        self.turnDelegate?.loopEnds()
        self.commitAndFlush()
        guard !self.isDead else { return }
        for stream in self.streams { stream.fail(TransportError(.shutDown, detail: "the process ends")) }
        self.turnDelegate?.loopEnded()
        self.isDead = true
    }

    func release() {
        for stream in self.streams { stream.forget() }
        self.streams = []
        self.timers.removeAll()
        self.toRun = []
        self.turnEnded = {}
    }

    private func commitAndFlush() {
        // The process may die in each of these calls.
        if !self.isDead { self.turnDelegate?.commit() }
        if !self.isDead { self.turnDelegate?.afterCommit() }
        for stream in self.streams where !self.isDead { stream.flush() }
    }
}

final class SimulatedStream: ByteStream {
    private weak var loop: SimulatedLoop?
    private var delegate: (any ByteStreamDelegate)?
    private var incoming: [[UInt8]] = []
    private var outgoing: [UInt8] = []
    private var hasConnected = false
    private var isToConnect = false
    private var failure: TransportError?
    private var closesAfterFlush = false
    private(set) var isClosed = false
    private(set) var isPaused = false
    /// `nil` closes the connection.
    var output: ([UInt8]?) -> Void = { _ in }

    init(_ loop: SimulatedLoop, _ delegate: any ByteStreamDelegate) {
        self.loop = loop
        self.delegate = delegate
    }

    var report: ConnectionReport? { nil }
    var unsentBytes: Int { self.outgoing.count }

    // MARK: - The owner's side

    func send(_ bytes: [UInt8]) {
        if !self.isClosed, !self.closesAfterFlush { self.outgoing += bytes }
    }

    func pauseReading() { self.isPaused = true }

    func resumeReading() {
        self.isPaused = false
        self.loop?.wake()
    }

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.delegate = nil
        self.output(nil)
    }

    func closeAfterFlush() {
        self.closesAfterFlush = true
        self.delegate = nil
        self.loop?.wake()
    }

    // MARK: - The network's side

    func connected() {
        self.isToConnect = true
        self.loop?.wake()
    }

    func giveUpConnecting() {
        if !self.isToConnect { self.broke(TransportError(.timedOut, detail: "nobody answers")) }
    }

    func received(_ bytes: [UInt8]) {
        self.incoming.append(bytes)
        self.loop?.wake()
    }

    func broke(_ error: TransportError) {
        if self.failure == nil { self.failure = error }
        self.loop?.wake()
    }

    // MARK: - The loop's side

    /// Whether input remains that no other event will announce.
    var hasWork: Bool { !self.isClosed && !self.isPaused && !self.incoming.isEmpty }

    func handOver(until isSaturated: () -> Bool) {
        if self.isToConnect, !self.hasConnected {
            self.hasConnected = true
            self.delegate?.streamDidConnect(self)
        }
        while !self.isPaused, !self.isClosed, !self.incoming.isEmpty, !isSaturated() {
            let bytes = self.incoming.removeFirst()
            bytes.withUnsafeBytes { self.delegate?.stream(self, didReceive: $0) }
        }
        // The owner reads the received bytes before the failure.
        if let failure, self.incoming.isEmpty || self.delegate == nil { self.fail(failure) }
    }

    func fail(_ error: TransportError) {
        guard !self.isClosed else { return }
        self.isClosed = true
        let delegate = self.delegate
        self.forget()
        delegate?.streamDidClose(self, error: error)
    }

    func forget() {
        self.isClosed = true
        self.delegate = nil
        self.output = { _ in }
    }

    func flush() {
        if self.hasConnected, !self.outgoing.isEmpty, !self.isClosed {
            let bytes = self.outgoing
            self.outgoing = []
            self.output(bytes)
        }
        if self.closesAfterFlush { self.close() }
    }
}
