#if Postgres
import KiiPushCore

/// For use on the loop's thread.
final class FleetLease {
    enum Event: Sendable {
        case renewed(FleetRenewal)
        case failed(InboxError)
        case over
    }

    private let store: PostgresStore
    private let loop: EventLoop
    private let hear: @Sendable (Event) -> Void
    private let length: Duration
    /// The end of the lease, by a clock that continues while the machine sleeps (`CLOCK_BOOTTIME`).
    private var end: ContinuousClock.Instant
    private var isOver = true
    private var answerEnd: ContinuousClock.Instant?
    private var isCancelled = false
    private var askedAt: MonotonicInstant
    private var timer: TimerID?
    private var watching: TimerID?
    var joins = true
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

    /// Releases all shards and the gateway's name, and stops the renewals: a renewal would take shards again.
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
        // Breaks a connection whose server hangs or waits for a standby.
        if let answerEnd, ContinuousClock.now > answerEnd {
            self.answerEnd = nil
            self.store.connection?.abandon()
        }
        self.watching = self.loop.schedule(at: self.loop.now + self.length / 50) { [weak self] in self?.watch() }
    }

    private func plan() {
        guard !self.isCancelled else { return }
        if let timer { self.loop.cancel(timer) }
        // 3 s with a lease of 10 s; 0.4 s while shards change gateways or the lease is over. Counted from the start
        // of the last renewal.
        let pause = self.isHasty || self.isOver ? self.length / 25 : self.length * 0.3
        self.timer = self.loop.schedule(at: max(self.loop.now, self.askedAt + pause)) { [weak self] in self?.renew() }
    }

    private func renew() {
        guard self.answerEnd == nil else { return }
        self.askedAt = self.loop.now
        // The lease counts from before the request, and ends a fifth early, because agents take time to stop.
        let end = ContinuousClock.now + self.length * 0.8
        self.answerEnd = end
        self.store.renew(joins: self.joins) { [weak self] result in
            guard let self, !self.isCancelled else { return }
            self.answerEnd = nil
            switch result {
            // The answer came after the end of the lease, so other gateways may have taken over.
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
