package struct DeliveryConfiguration: Sendable, Hashable {
    /// At least 1.
    package var concurrentHandlers = 4
    package var deadline: Duration = .seconds(30)
    /// The pauses before the retries, counted from the failure. There is one attempt more than there are pauses.
    package var retryDelays: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(1800)]
    /// The time from the start of the first attempt to the end of the last one; `nil`: no limit.
    package var totalLimit: Duration?
    /// Whether a message that waits for its retry holds back later messages of its source.
    package var isStrictlyOrdered = false
    package var messagesInMemory = 1000
    /// `nil`: no limit.
    package var bytesInMemory: Int?
    /// The most blocked threads that delivery replaces at once.
    package var maximumStuckCalls = 64

    /// For an inbox in memory, which delays each acknowledgement until the message's outcome: three attempts in 60 s.
    package static var memoryInbox: DeliveryConfiguration {
        DeliveryConfiguration(retryDelays: [.seconds(1), .seconds(5)], totalLimit: .seconds(60))
    }

    package var scale: DeliveryScale {
        self.bytesInMemory.map { DeliveryScale(messages: self.messagesInMemory, bytes: $0) } ?? .uniform
    }

    var maximumAttempts: Int { self.retryDelays.count + 1 }
}

/// Weighs messages in memory: 1 for the usual size, more for a large message. So one bound limits the number of
/// messages and their bytes.
package struct DeliveryScale: Sendable, Hashable {
    package let step: Int
    /// The largest weight: a heavier message might never find room.
    package let heaviest: Int

    package static let uniform = DeliveryScale(messages: 1, bytes: .max)

    init(messages: Int, bytes: Int) {
        self.step = max(1, bytes / max(1, messages))
        self.heaviest = max(1, messages / 4)
    }

    package func weight(of bytes: Int) -> Int { bytes < self.step ? 1 : min(1 + bytes / self.step, self.heaviest) }
}
