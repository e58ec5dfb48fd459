#if Postgres
import KiiPushCore

/// Renews a gateway's lease periodically, and notices when the last renewal is too old. Lives on the loop's thread.
final class FleetLease {
    enum Event: Sendable {
        case renewed(FleetRenewal)
        case failed(InboxError)
        /// The lease is over: others may have taken over by now.
        case over
    }

    private let store: PostgresStore
    private let loop: EventLoop
    private let hear: @Sendable (Event) -> Void
    private let length: Duration
    /// Until then nobody else takes over. By a clock that continues while the machine sleeps (`CLOCK_BOOTTIME`).
    private var end: ContinuousClock.Instant
    private var isOver = true
    /// The deadline for the answer of the request under way.
    private var answerEnd: ContinuousClock.Instant?
    private var isCancelled = false
    /// The time of the latest renewal, sent or attempted.
    private var askedAt: MonotonicInstant
    private var timer: TimerID?
    private var watching: TimerID?
    /// Whether the gateway takes shards.
    var joins = true
    /// Whether shards have to come or go, so that renewals have to be frequent.
    var isHasty = false { didSet { if self.isHasty, !oldValue { self.plan() } } }

    init(_ store: PostgresStore, on loop: EventLoop, hear: @escaping @Sendable (Event) -> Void) {
        (self.store, self.loop, self.hear) = (store, loop, hear)
        self.length = store.configuration.lease
        self.end = .now
        self.askedAt = loop.now
        self.renew()
        self.watch()
    }

    func cancel() {
        self.isCancelled = true
        for timer in [self.timer, self.watching].compactMap({ $0 }) { self.loop.cancel(timer) }
    }

    /// Releases all shards and the name, and stops renewing: a renewal would take shards again.
    func leave(completion: @escaping StoreCompletion<Void>) {
        self.isCancelled = true
        if let timer { self.loop.cancel(timer) }
        self.answerEnd = ContinuousClock.now + self.length * 0.8
        self.store.leave(completion: completion)
    }

    private func watch() {
        if !self.isOver, ContinuousClock.now > self.end {
            self.isOver = true
            self.hear(.over)
        }
        // Such a connection does not break by itself: the server hangs, or waits for a standby.
        if let answerEnd, ContinuousClock.now > answerEnd {
            self.answerEnd = nil
            self.store.connection?.breaks()
        }
        self.watching = self.loop.schedule(at: self.loop.now + self.length / 50) { [weak self] in self?.watch() }
    }

    private func plan() {
        guard !self.isCancelled else { return }
        if let timer { self.loop.cancel(timer) }
        // 3 s of 10; much sooner while a gateway waits for a shard. The pause includes the time of the answer: others
        // see the new lease once it is committed.
        let pause = self.isHasty || self.isOver ? self.length / 25 : self.length * 0.3
        self.timer = self.loop.schedule(at: max(self.loop.now, self.askedAt + pause)) { [weak self] in self?.renew() }
    }

    private func renew() {
        guard self.answerEnd == nil else { return }
        self.askedAt = self.loop.now
        // Counted from before the request is sent, and a fifth less: agents take a moment to stop.
        let end = ContinuousClock.now + self.length * 0.8
        self.answerEnd = end
        self.store.renew(joins: self.joins) { [weak self] result in
            guard let self, !self.isCancelled else { return }
            self.answerEnd = nil
            switch result {
            // Others may have taken over again since.
            case .success where ContinuousClock.now > end: break
            case .success(let renewal):
                self.end = end
                self.isOver = false
                self.hear(.renewed(renewal))
            case .failure(let error): self.hear(.failed(error))
            }
            self.plan()
        }
    }
}
#endif
