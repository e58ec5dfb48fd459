import Glibc

/// The loop itself: everything that lives on its thread, and the turn.
final class LoopCore {
    private let queue: CommandQueue
    let sockets: SocketTable
    private var commands: [CommandQueue.Command] = []
    let timers: TimerHeap
    let transfers: TransferSet
    let streams: StreamSet
    var turnDelegate: (any TurnDelegate)?
    var clockObserver: ((ClockJump) -> Void)?
    /// What others keep here; see ``LoopIsolated``.
    var values: [LoopKey: Any] = [:]
    private let readClocks: @Sendable () -> ClockReading?
    private var clocks = ClockWatch()
    private(set) var now = MonotonicInstant.now()
    /// Whether the last turn ended in a wait.
    private var hasSlept = false

    init(_ configuration: EventLoop.Configuration, queue: CommandQueue, waker: Waker) throws(TransportError) {
        let options = try ConnectionOptions(configuration)
        self.queue = queue
        self.sockets = try SocketTable(waker: waker)
        self.timers = TimerHeap()
        self.readClocks = configuration.readClocks
        _ = self.clocks.look(self.readClocks())
        self.transfers = try TransferSet(configuration, options: options, timers: self.timers, sockets: self.sockets)
        self.streams = StreamSet(configuration, options: options, timers: self.timers, sockets: self.sockets)
        if let alarm = ClockAlarm() {
            try self.sockets.watch(alarm.descriptor, for: Epoll.readable, owner: .alarm(alarm))
        }
    }

    /// The core of the loop whose thread this is.
    static var current: LoopCore? { LoopPlace.current?.core }

    /// Turns until the queue is closed. What others keep here is let go of while the core is still ``current``.
    func run() {
        while self.runCommands() {
            // Not in every turn: a loop that is busy finds it out in the next one that is not.
            if self.hasSlept, let jump = self.clocks.look(self.readClocks()) { self.clockObserver?(jump) }
            let horizon = self.timers.horizon
            while let body = self.timers.popDue(at: self.now, before: horizon) { body() }
            self.transfers.process(now: self.now)
            self.streams.process(now: self.now) { self.turnDelegate?.isSated ?? false }
            self.commitAndFlush()
            self.sleep()
        }
        // What was handed in before the end is stored and sent as far as it can be; nothing more is read.
        self.transfers.endAll(.shutDown)
        self.turnDelegate?.loopEnds()
        self.commitAndFlush()
        self.streams.endAll(.shutDown)
        self.sockets.forgetAll()
        self.timers.removeAll()
        self.turnDelegate?.loopEnded()
        self.turnDelegate = nil
        self.clockObserver = nil
        let values = self.values
        self.values = [:]
        withExtendedLifetime(values) {}
    }

    private func runCommands() -> Bool {
        let isOpen = self.queue.take(&self.commands)
        self.now = .now()
        for command in self.commands { command() }
        self.commands.removeAll(keepingCapacity: true)
        return isOpen
    }

    private func commitAndFlush() {
        self.turnDelegate?.commit()
        self.turnDelegate?.afterCommit()
        self.streams.flush()
    }

    private func sleep() {
        if let pause = self.turnDelegate?.pauseBeforeNextTurn, pause > .zero {
            // A sleep, and no wait for sockets: they are ready, and the wait would end at once. More of them are ready 50 us
            // later. `Gathering` asks for no more than that, and never after a message that came alone (`GatheringTests`).
            // The proof, behind mosquitto, one run with the pause and one without in turn: 5.4 us of user time a message
            // for 10.7 at QoS 0, and 11.2 for 19.5 at QoS 1. A command that is submitted meanwhile waits as long.
            usleep(UInt32(clamping: pause.wholeNanoseconds / 1000))
        }
        self.hasSlept = self.queue.prepareToSleep() && !self.streams.hasWork
        self.sockets.wait(milliseconds: self.hasSlept ? self.sleepMilliseconds() : 0)
    }

    /// How long until the next timer, rounded up so that it is not found too early; -1 is for ever.
    private func sleepMilliseconds() -> Int32 {
        let transfers = MonotonicInstant?.earlier(self.transfers.deadline, self.streams.nextDeadline())
        guard let deadline = MonotonicInstant?.earlier(self.timers.nextDeadline(), transfers) else { return -1 }
        return Int32(clamping: max(0, (deadline - .now()).wholeMillisecondsRoundedUp))
    }
}

/// The thread-local state of a loop's thread.
final class LoopPlace {
    /// The loop's queue; a loop recognises its thread by it.
    let queue: CommandQueue
    private(set) var core: LoopCore?

    init(of core: LoopCore, queue: CommandQueue) {
        self.core = core
        self.queue = queue
    }

    /// The place of this thread; `nil` outside loops.
    static var current: LoopPlace? {
        pthread_getspecific(LoopPlace.slot).map { Unmanaged<LoopPlace>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let slot: pthread_key_t = {
        var slot = pthread_key_t()
        let code = pthread_key_create(&slot, nil)
        precondition(code == 0, "pthread_key_create failed with \(code)")
        return slot
    }()

    /// Runs the loop on its thread.
    ///
    /// The place stays ``current`` until the core is released. The core may release the last reference to its loop,
    /// which then must not wait for its own thread.
    func live() {
        let code = pthread_setspecific(LoopPlace.slot, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "pthread_setspecific failed with \(code)")
        self.core?.run()
        let core = self.core
        self.core = nil
        _ = consume core
        pthread_setspecific(LoopPlace.slot, nil)
    }
}
