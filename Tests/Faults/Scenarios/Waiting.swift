import KiiPushCore

extension Play {
    /// Ends the scenario; the reason is among its problems.
    struct Stopped: Error {}

    enum Waiting: Hashable {
        /// Every message is handled or a dead letter.
        case complete
        /// Some messages are neither, although a message sent later has been handled: they will not come.
        case incomplete
        /// Nothing is handled any more, not even a message that was sent just now.
        case stuck
        case receiverEnded
    }

    /// After this time without progress, a probe message follows. The value only affects the duration of a run.
    private static let quiet: Duration = .seconds(10)

    /// Waits until every message is handled or a dead letter, and stored as such; then ends the receiver.
    mutating func finish() async throws {
        // Another client may have lost messages.
        guard self.kind.isOurs else { return try await self.finishAfterLast() }
        try await self.waitForAll()
        try await self.settle(true)
    }

    /// Like ``finish()``, for scenarios that may lose messages, which nobody could wait for. Instead, a last message
    /// that does not count follows all others.
    mutating func finishAfterLast() async throws {
        let isHandled = try await self.passProbe()
        self.expect(isHandled, "the last message was not handled")
        try await self.settle(isHandled)
    }

    /// Waits until every message is handled or a dead letter; if some will not be, ends the scenario. A killed broker
    /// may have lost messages; then it is enough that later messages are handled.
    mutating func waitForAll() async throws {
        let result = try await self.waitUntilAccounted()
        switch result {
        case .complete: return
        case .incomplete where self.brokerWasKilled: return
        case .incomplete: self.expect(false, "later messages were handled, and some before them were not")
        case .stuck: self.expect(false, "no message is handled any more")
        case .receiverEnded:
            throw FaultError("\(self.kind.name) ended by itself: \(self.receiver.process.lastWords)")
        }
        throw Stopped()
    }

    /// Waits until every message is handled or a dead letter, or until it is certain that some will not be.
    mutating func waitUntilAccounted() async throws -> Waiting {
        let patience = self.observation.patience
        defer { self.observation.patience = patience }
        var accounting = Accounting(self)
        self.observation.patience = min(patience, Play.quiet)
        if try await self.observation.wait(until: { try accounting.isComplete($0) }) { return .complete }
        guard self.receiver.isRunning else { return .receiverEnded }

        self.observation.patience = patience
        let isAlive = try await self.passProbe()
        // Earlier messages may take longer than the probe. If not even the probe was handled, a second is enough.
        if !isAlive { self.observation.patience = .seconds(1) }
        var isComplete = try await self.wait(&accounting, orUntilIdle: isAlive)
        if !isComplete, isAlive, self.bench.redeliversAfter > .zero {
            // Some brokers deliver new messages first, and redeliver the rest only after a delay.
            self.observation.patience = self.bench.redeliversAfter
            isComplete = try await self.wait(&accounting, orUntilIdle: false)
        }
        if isComplete { return .complete }
        guard self.receiver.isRunning else { return .receiverEnded }
        return isAlive ? .incomplete : .stuck
    }

    /// Sends a message that does not count, and waits until it is handled; `false` if it is not.
    mutating func passProbe() async throws -> Bool {
        let patience = self.observation.patience
        defer { self.observation.patience = patience }
        self.observation.patience = .seconds(1)
        // No receiver treats this number in a special way.
        let number = 1_000_000_007 + 10 * self.probes
        self.probes += 1
        var lines = -1
        var giveUpAt = MonotonicInstant.now() + patience
        while self.receiver.isRunning, MonotonicInstant.now() < giveUpAt {
            // The broker drops a probe that it gets while it has no session, so the loop may have to send another.
            _ = try await self.bench.send([number])
            if try await self.observation.wait(until: { $0.endings[number] != nil }) { return true }
            if self.observation.log.begunCount != lines { giveUpAt = .now() + patience }
            lines = self.observation.log.begunCount
        }
        return false
    }

    private mutating func wait(_ accounting: inout Accounting, orUntilIdle: Bool) async throws -> Bool {
        var isComplete = false
        _ = try await self.observation.wait { log in
            isComplete = try accounting.isComplete(log)
            return try isComplete || orUntilIdle && accounting.isIdle()
        }
        return isComplete
    }

    /// Waits until no message is open, unless `isReached` is `false`, and ends the receiver.
    private mutating func settle(_ isReached: Bool) async throws {
        guard self.receiver.isRunning else {
            throw FaultError("\(self.kind.name) ended by itself: \(self.receiver.process.lastWords)")
        }
        if isReached, self.kind.isOurs {
            let state = self.bench.state
            let isSettled = try await self.observation.wait { _ in try InboxReading(state: state).open == 0 }
            self.expect(isSettled, "messages are left that are neither done nor dead")
        }
        try await self.receiver.kill()
    }
}
