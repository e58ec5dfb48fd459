import Glibc
import KiiPushCore
import KiiPushEmulator

// How a receiver is killed: at its work, and while messages come.
extension Play {
    /// Has the session's first message over with, and ends the receiver.
    mutating func receiveFirst() async throws {
        try self.receiver.start()
        try await self.beginSession()
        // An answer that is not stored would be a duplicate of another kind.
        let (isOurs, state) = (self.kind.isOurs, self.bench.state)
        let isHandled = try await self.observation.wait {
            try $0.endings[0] != nil && (!isOurs || InboxReading(state: state).open == 0)
        }
        self.expect(isHandled, "the first message was not handled")
        _ = try await self.observation.kill()
    }

    /// A quarter of the messages waits at the broker, so that there is always something to work on; a share of the rest is
    /// sent while each receiver runs. Half of the kills come while a handler runs, half right after a PUBLISH.
    mutating func killAgainAndAgain(
        messages: Int, kills: Int, by send: (inout Play, Range<Int>) async throws -> Void
    ) async throws -> Kills {
        let share = messages * 3 / 4 / kills
        let waiting = messages - share * kills
        try await send(&self, 1..<waiting + 1)
        var (done, atWork, amidDelivery) = (0, 0, 0)
        for kill in 0..<kills {
            let numbers = waiting + kill * share + 1..<waiting + (kill + 1) * share + 1
            let former = self.traffic.connections
            let isReady =
                kill % 2 == 0
                ? try await self.killAtWork(numbers, send)
                : try await self.killAtDelivery(numbers, fromStart: kill % 4 == 3, send)
            guard isReady else { break }
            if try await self.observation.kill() > 0 { atWork += 1 }
            let proxy = self.proxy
            // The receiver is dead: only the proxy has something to do.
            while !proxy.traffic.isDisconnected { try await Task.sleep(for: .milliseconds(1)) }
            let ends = self.traffic.unacknowledgedAtEnd
            if ends.contains(where: { $0.key > former && $0.value > 0 }) { amidDelivery += 1 }
            done += 1
            try self.auditLedger()
        }
        if !self.receiver.isRunning { try self.receiver.start() }
        try await self.finish()
        if self.kind.isOurs {
            self.expect(done == kills, "\(done) kills of \(kills)")
            self.expect(amidDelivery > 0, "no kill came while a message was not acknowledged")
        }
        return Kills(done: done, atWork: atWork, amidDelivery: amidDelivery)
    }

    /// How often the receiver was killed, and when.
    struct Kills: CustomStringConvertible {
        var done, atWork, amidDelivery: Int

        /// The moments.
        var moments: String { "\(self.atWork) amid work, \(self.amidDelivery) amid delivery" }
        var description: String { "\(self.done) kills, \(self.moments)" }
    }

    /// Starts the receiver and returns when it has to be killed; `false` where nothing happens.
    private mutating func killAtWork(
        _ numbers: Range<Int>, _ send: (inout Play, Range<Int>) async throws -> Void
    ) async throws -> Bool {
        let ended = self.observation.log.endedCount
        try self.receiver.start()
        try await send(&self, numbers)
        return try await self.waitForWork(
            afterEnded: ended + Int.random(in: numbers.count / 2..<numbers.count, using: &self.random))
    }

    /// Starts the receiver and has it killed when a message has come.
    ///
    /// - Parameter fromStart: whether that may be one that comes again as soon as it is back, rather than a new one.
    private mutating func killAtDelivery(
        _ numbers: Range<Int>, fromStart: Bool, _ send: (inout Play, Range<Int>) async throws -> Void
    ) async throws -> Bool {
        let ended = self.observation.log.endedCount
        // Half of them, so that there is something to work on when the other half comes.
        let middle = fromStart ? numbers.lowerBound : numbers.lowerBound + numbers.count / 2
        let rule = PacketRule(
            .publish, .toReceiver, nth: Int.random(in: 1...numbers.upperBound - middle, using: &self.random), .pass)
        // Before it is read, before it is stored, or afterwards.
        let microseconds = UInt32.random(in: 0..<2000, using: &self.random)
        let receiver = self.receiver
        let kill: @Sendable () -> Void = {
            usleep(microseconds)
            receiver.signalKill()
        }
        var fired: FaultProxy.Firing
        if fromStart {
            fired = await self.proxy.arm(rule, then: kill)
            try self.receiver.start()
        } else {
            try self.receiver.start()
            try await send(&self, numbers.lowerBound..<middle)
            guard try await self.waitForWork(afterEnded: ended) else { return false }
            fired = await self.proxy.arm(rule, then: kill)
        }
        try await send(&self, middle..<numbers.upperBound)
        return try await self.waitUntilKilled(by: fired)
    }

    /// Waits until a rule has killed the receiver; `false` where it was not met.
    mutating func waitUntilKilled(by fired: FaultProxy.Firing) async throws -> Bool {
        if try await self.observation.wait(until: { _ in fired.hasHappened }) { return true }
        // The rule's own thread may say it a moment after the receiver has ended.
        let deadline = MonotonicInstant.now() + .seconds(10)
        while !self.receiver.isRunning, !fired.hasHappened, MonotonicInstant.now() < deadline {
            try await Task.sleep(for: .milliseconds(1))
        }
        return fired.hasHappened
    }

    /// Waits until so many messages have ended and another one is in its handler, or none is left to be handled.
    private mutating func waitForWork(afterEnded count: Int) async throws -> Bool {
        let total = self.sent.values.reduce(0, +)
        return try await self.observation.waitForHandler(afterEnded: count, orAll: total)
    }
}
