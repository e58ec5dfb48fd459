import KiiPushCore

/// Follows the log of a receiver.
package struct Observation {
    package let receiver: any Receiver
    package private(set) var log: HandledLog
    /// Limit of the time without a new line in the log.
    package var patience: Duration
    private var interruptedBefore = 0

    package init(_ receiver: any Receiver, patience: Duration) {
        self.receiver = receiver
        self.log = HandledLog(path: receiver.log)
        self.patience = patience
    }

    /// Follows the log until `isReached` returns `true`. Returns `false` if no line came within ``patience``, or if the
    /// receiver has ended.
    package mutating func wait(until isReached: (HandledLog) throws -> Bool) async throws -> Bool {
        var deadline = MonotonicInstant.now() + self.patience
        while true {
            let isRunning = self.receiver.isRunning
            if self.log.read() { deadline = .now() + self.patience }
            if try isReached(self.log) { return true }
            guard isRunning, MonotonicInstant.now() < deadline else { return false }
            // Another process writes the log and cannot notify this one.
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until `count` messages have ended and another one is in its handler, or until `all` have ended.
    package mutating func waitForHandler(afterEnded count: Int, orAll all: Int = .max) async throws -> Bool {
        let before = self.interruptedBefore
        return try await self.wait { $0.endedCount >= all || $0.endedCount >= count && $0.interrupted > before }
    }

    /// Kills the receiver, and returns the number of messages in its handlers.
    package mutating func kill() async throws -> Int {
        try await self.receiver.kill()
        self.log.read()
        defer { self.interruptedBefore = self.log.interrupted }
        return self.log.interrupted - self.interruptedBefore
    }
}
