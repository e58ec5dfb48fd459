import KiiPushCore

// How a scenario waits for its messages, and knows that no more of them will come.
extension Play {
    /// Ends the scenario; why is among its problems.
    struct Stopped: Error {}

    /// What waiting came to.
    enum Waiting: Hashable {
        /// Every message is handled or a dead letter.
        case complete
        /// Some are neither, and a message that was sent after them has been handled: they will not come.
        case incomplete
        /// Nothing happens any more, not even with a message that was sent just now.
        case stuck
        /// The receiver ended by itself.
        case receiverEnded
    }

    /// When nothing has happened for so long, such a message is sent. Nothing depends on it but the time that it takes.
    private static let quiet: Duration = .seconds(10)

    /// Waits until every message is handled or a dead letter, and stored as that; then ends the receiver.
    mutating func finish() async throws {
        // Others may have lost some.
        guard self.kind.isOurs else { return try await self.finishAfterLast() }
        try await self.waitForAll()
        try await self.settle(true)
    }

    /// As ``finish()``, where messages may be gone, for which nobody could wait: a last one, which is not counted, follows
    /// all that is still to come.
    mutating func finishAfterLast() async throws {
        let isHandled = try await self.passProbe()
        self.expect(isHandled, "the last message was not handled")
        try await self.settle(isHandled)
    }

    /// Waits until every message is handled or a dead letter, and ends the scenario when that does not come. Where the
    /// broker was killed messages may be gone; then it is enough that others still come.
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
        // What came before it may take longer than the probe. Where not even that came, enough was waited.
        if !isAlive { self.observation.patience = .seconds(1) }
        var isComplete = try await self.wait(&accounting, orUntilIdle: isAlive)
        if !isComplete, isAlive, self.bench.redeliversAfter > .zero {
            // Some brokers send what is new first, and the rest when its time has come.
            self.observation.patience = self.bench.redeliversAfter
            isComplete = try await self.wait(&accounting, orUntilIdle: false)
        }
        if isComplete { return .complete }
        guard self.receiver.isRunning else { return .receiverEnded }
        return isAlive ? .incomplete : .stuck
    }

    /// Sends a message that does not count, and waits until it is handled; `false` when that does not come.
    mutating func passProbe() async throws -> Bool {
        let patience = self.observation.patience
        defer { self.observation.patience = patience }
        self.observation.patience = .seconds(1)
        // Not a number that a receiver treats in a special way.
        let number = 1_000_000_007 + 10 * self.probes
        self.probes += 1
        var lines = -1
        var giveUpAt = MonotonicInstant.now() + patience
        while self.receiver.isRunning, MonotonicInstant.now() < giveUpAt {
            // One that is sent while the broker knows no session is gone, so there may have to be another.
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

    /// Waits until nothing is left that is neither done nor dead, where that will come, and ends the receiver.
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
