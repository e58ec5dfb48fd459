import Glibc

final class LoopCore {
    private let queue: CommandQueue
    let sockets: Epoll
    private var commands: [CommandQueue.Command] = []
    let timers: TimerHeap
    let transfers: TransferSet
    let streams: StreamSet
    var turnDelegate: (any TurnDelegate)?
    var clockObserver: ((ClockJump) -> Void)?
    var values: [LoopKey: Any] = [:]
    private let readClocks: @Sendable () -> ClockReading?
    private var clocks = ClockWatch()
    private(set) var now = MonotonicInstant.now()
    private var hasSlept = false

    init(_ configuration: EventLoop.Configuration, queue: CommandQueue, waker: Waker) throws(TransportError) {
        let options = try ConnectionOptions(configuration)
        self.queue = queue
        self.sockets = try Epoll(waker: waker)
        self.timers = TimerHeap()
        self.readClocks = configuration.readClocks
        _ = self.clocks.look(self.readClocks())
        self.transfers = try TransferSet(configuration, options: options, timers: self.timers, sockets: self.sockets)
        self.streams = StreamSet(configuration, options: options, timers: self.timers, sockets: self.sockets)
        if let alarm = ClockAlarm() {
            try self.sockets.watch(alarm.descriptor, for: Epoll.readable, owner: .alarm(alarm))
        }
    }

    static var current: LoopCore? { LoopPlace.current?.core }

    func run() {
        while self.runCommands() {
            // A busy loop notices a jump of the clocks only after its next sleep.
            if self.hasSlept, let jump = self.clocks.look(self.readClocks()) { self.clockObserver?(jump) }
            let horizon = self.timers.horizon
            while let body = self.timers.popDue(at: self.now, before: horizon) { body() }
            self.transfers.process(now: self.now)
            self.streams.process(now: self.now) { self.turnDelegate?.isSaturated ?? false }
            self.commitAndFlush()
            self.sleep()
        }
        // The last turn stores and sends the results of earlier commands, and reads nothing.
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
            // A sleep on purpose, of at most 50 us, after which more sockets are ready. Some are usually ready already, so
            // waiting for sockets would end at once. Commands wait too. Measured behind mosquitto,
            // alternating runs with and without the pause: 5.4 against 10.7 us of user time a message at QoS 0, 11.2
            // against 19.5 us at QoS 1.
            usleep(UInt32(clamping: pause.wholeNanoseconds / 1000))
        }
        self.hasSlept = self.queue.prepareToSleep() && !self.streams.hasWork
        self.sockets.wait(milliseconds: self.hasSlept ? self.sleepMilliseconds() : 0)
    }

    /// Rounded up, so that the loop does not wake too early. -1: no deadline.
    private func sleepMilliseconds() -> Int32 {
        let transfers = MonotonicInstant?.earlier(self.transfers.deadline, self.streams.nextDeadline())
        guard let deadline = MonotonicInstant?.earlier(self.timers.nextDeadline(), transfers) else { return -1 }
        return Int32(clamping: max(0, (deadline - .now()).wholeMillisecondsRoundedUp))
    }
}

final class LoopPlace {
    let queue: CommandQueue
    private(set) var core: LoopCore?

    init(of core: LoopCore, queue: CommandQueue) {
        self.core = core
        self.queue = queue
    }

    static var current: LoopPlace? {
        pthread_getspecific(LoopPlace.slot).map { Unmanaged<LoopPlace>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let slot: pthread_key_t = {
        var slot = pthread_key_t()
        let code = pthread_key_create(&slot, nil)
        precondition(code == 0, "pthread_key_create failed with \(code)")
        return slot
    }()

    /// This object stays ``current`` until the core is released. The core may release the loop, whose `deinit` must
    /// recognise the loop's thread.
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
