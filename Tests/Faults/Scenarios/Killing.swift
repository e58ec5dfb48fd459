import Glibc
import KiiPushCore
import KiiPushEmulator

extension Play {
    /// Lets a receiver handle the first message of the session, and kills that receiver.
    mutating func receiveFirst() async throws {
        try self.receiver.start()
        try await self.beginSession()
        // If the answer were not stored, a later duplicate would have another cause.
        let (isOurs, state) = (self.kind.isOurs, self.bench.state)
        let isHandled = try await self.observation.wait {
            try $0.endings[0] != nil && (!isOurs || InboxReading(state: state).open == 0)
        }
        self.expect(isHandled, "the first message was not handled")
        _ = try await self.observation.kill()
    }

    /// A quarter of the messages waits at the broker, so that the receiver always has work. Each receiver gets a share
    /// of the rest. Half of the kills come while a handler runs, half right after a PUBLISH.
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
            // The receiver is dead, so the wait is only for the proxy.
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

    struct Kills: CustomStringConvertible {
        var done, atWork, amidDelivery: Int

        var moments: String { "\(self.atWork) amid work, \(self.amidDelivery) amid delivery" }
        var description: String { "\(self.done) kills, \(self.moments)" }
    }

    /// Starts the receiver, and returns at the moment of the kill; `false` if the receiver makes no progress.
    private mutating func killAtWork(
        _ numbers: Range<Int>, _ send: (inout Play, Range<Int>) async throws -> Void
    ) async throws -> Bool {
        let ended = self.observation.log.endedCount
        try self.receiver.start()
        try await send(&self, numbers)
        return try await self.waitForWork(
            afterEnded: ended + Int.random(in: numbers.count / 2..<numbers.count, using: &self.random))
    }

    /// Starts the receiver, which a rule kills after a delivery.
    ///
    /// - Parameter fromStart: whether that delivery may be a redelivery at the start. Otherwise it is a new message.
    private mutating func killAtDelivery(
        _ numbers: Range<Int>, fromStart: Bool, _ send: (inout Play, Range<Int>) async throws -> Void
    ) async throws -> Bool {
        let ended = self.observation.log.endedCount
        // Half of the messages come first, so that the receiver has work when the second half arrives.
        let middle = fromStart ? numbers.lowerBound : numbers.lowerBound + numbers.count / 2
        let rule = PacketRule(
            .publish, .toReceiver, nth: Int.random(in: 1...numbers.upperBound - middle, using: &self.random), .pass)
        // The kill comes before the message is read, before it is stored, or later.
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

    /// Waits until a rule has killed the receiver; `false` if no packet matched the rule.
    mutating func waitUntilKilled(by fired: FaultProxy.Firing) async throws -> Bool {
        if try await self.observation.wait(until: { _ in fired.hasHappened }) { return true }
        // The rule's thread may report the kill a moment after the receiver's end.
        let deadline = MonotonicInstant.now() + .seconds(10)
        while !self.receiver.isRunning, !fired.hasHappened, MonotonicInstant.now() < deadline {
            try await Task.sleep(for: .milliseconds(1))
        }
        return fired.hasHappened
    }

    /// Waits until `count` messages have ended and another one is in its handler, or until all messages have ended.
    private mutating func waitForWork(afterEnded count: Int) async throws -> Bool {
        let total = self.sent.values.reduce(0, +)
        return try await self.observation.waitForHandler(afterEnded: count, orAll: total)
    }
}
