import KiiPushCore

/// A receiver that is being watched: its log is followed, and waited for.
package struct Observation {
    package let receiver: any Receiver
    package private(set) var log: HandledLog
    /// How long nothing may happen until it is given up.
    package var patience: Duration
    private var interruptedBefore = 0

    package init(_ receiver: any Receiver, patience: Duration) {
        self.receiver = receiver
        self.log = HandledLog(path: receiver.log)
        self.patience = patience
    }

    /// Follows the log until `isReached` says so; `false` when nothing was written for as long as ``patience``, or the
    /// receiver has ended.
    package mutating func wait(until isReached: (HandledLog) throws -> Bool) async throws -> Bool {
        var deadline = MonotonicInstant.now() + self.patience
        while true {
            let isRunning = self.receiver.isRunning
            if self.log.read() { deadline = .now() + self.patience }
            if try isReached(self.log) { return true }
            guard isRunning, MonotonicInstant.now() < deadline else { return false }
            // The log belongs to another process, which cannot say when it has written.
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until so many messages have ended and another one is in its handler, or until `all` have ended.
    package mutating func waitForHandler(afterEnded count: Int, orAll all: Int = .max) async throws -> Bool {
        let before = self.interruptedBefore
        return try await self.wait { $0.endedCount >= all || $0.endedCount >= count && $0.interrupted > before }
    }

    /// Kills the receiver, and returns how many messages were in their handlers.
    package mutating func kill() async throws -> Int {
        try await self.receiver.kill()
        self.log.read()
        defer { self.interruptedBefore = self.log.interrupted }
        return self.log.interrupted - self.interruptedBefore
    }
}
