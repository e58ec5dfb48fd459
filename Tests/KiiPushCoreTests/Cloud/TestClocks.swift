import KiiPushCore

/// A clock that sleeps in no time, and records the durations.
final class RecordingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - self.offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let sleptFor = Locked<[Duration]>([])

    var sleeps: [Duration] { self.sleptFor.withLock { $0 } }
    var now: Instant { Instant(offset: self.sleeps.reduce(.zero, +)) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let duration = self.now.duration(to: deadline)
        self.sleptFor.withLock { $0.append(duration) }
    }
}

struct EndlessClock: Clock {
    let isSleeping: AsyncStream<Void>.Continuation

    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        self.isSleeping.yield()
        try await ContinuousClock().sleep(for: .seconds(3600))
    }
}
