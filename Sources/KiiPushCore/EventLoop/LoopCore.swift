import CCurl

/// The loop itself: everything that lives on its thread, and the turn.
final class LoopCore {
    private let queue: CommandQueue
    private var commands: [CommandQueue.Command] = []
    let timers: TimerHeap
    let transfers: TransferSet
    let streams: StreamSet
    var turnDelegate: (any TurnDelegate)?
    private(set) var now = MonotonicInstant.now()
    private var socketsAreReady = false

    init(
        _ configuration: EventLoop.Configuration, transfers: TransferSet, options: ConnectionOptions,
        queue: CommandQueue
    ) throws(TransportError) {
        self.queue = queue
        self.timers = TimerHeap()
        self.transfers = transfers
        self.streams = try StreamSet(configuration, options: options, timers: self.timers)
    }

    /// Turns until the queue is closed.
    func run() {
        while self.runCommands() {
            self.fireTimers()
            self.transfers.perform()
            self.streams.process(now: self.now, socketsAreReady: self.socketsAreReady)
            self.commitAndFlush()
            self.sleep()
        }
        // What was handed in before the end is stored and sent as far as it can be; nothing more is read.
        self.transfers.endAll(.shutDown)
        self.commitAndFlush()
        self.streams.endAll(.shutDown)
        self.timers.removeAll()
        self.turnDelegate = nil
    }

    private func runCommands() -> Bool {
        let isOpen = self.queue.take(&self.commands)
        self.now = .now()
        for command in self.commands { command() }
        self.commands.removeAll(keepingCapacity: true)
        return isOpen
    }

    private func fireTimers() {
        let horizon = self.timers.horizon
        while let body = self.timers.popDue(at: self.now, before: horizon) { body() }
    }

    private func commitAndFlush() {
        self.turnDelegate?.commit()
        self.turnDelegate?.afterCommit()
        self.streams.flush()
    }

    private func sleep() {
        let canSleep = self.queue.prepareToSleep() && !self.streams.hasWork
        var sockets = curl_waitfd()
        sockets.fd = self.streams.sockets.epoll.descriptor
        sockets.events = Int16(CURL_WAIT_POLLIN)
        // Fails for lack of memory only; then this turn does not sleep, and the next tries again.
        curl_multi_poll(self.transfers.multi.raw, &sockets, 1, canSleep ? self.sleepMilliseconds() : 0, nil)
        self.socketsAreReady = sockets.revents != 0
    }

    /// How long until the next timer, rounded up so that it is not found too early. libcurl knows the transfers' own.
    private func sleepMilliseconds() -> Int32 {
        let deadlines = [self.timers.nextDeadline(), self.streams.nextDeadline()].compactMap { $0 }
        guard let deadline = deadlines.min() else { return .max }
        return Int32(clamping: max(0, (deadline - .now()).wholeMillisecondsRoundedUp))
    }
}
