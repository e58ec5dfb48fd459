/// The defaults come from the design.
package struct DeliveryConfiguration: Sendable, Hashable {
    /// Number of handlers that run at once; at least 1.
    package var concurrentHandlers = 4
    package var deadline: Duration = .seconds(30)
    /// Pauses between attempts, counted from the failure. There is one attempt more than there are pauses.
    package var retryDelays: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(1800)]
    /// The time for all attempts, counted from the start of the first one. No attempt starts or continues after it.
    /// `nil`: no limit.
    package var totalLimit: Duration?
    /// Whether a message that waits for its retry holds back later messages of its source.
    package var isStrictlyOrdered = false
    /// The most messages in memory; the other messages stay in the store.
    package var messagesInMemory = 1000
    /// The most bytes of messages in memory; `nil`: no limit.
    package var bytesInMemory: Int?
    /// The most stuck calls that get fresh threads in their places. A further one keeps its place until a call returns.
    package var maximumStuckCalls = 64

    /// The settings for an inbox in memory, whose acknowledgements wait for the outcome: three attempts, 60 s in all.
    package static var memoryInbox: DeliveryConfiguration {
        DeliveryConfiguration(retryDelays: [.seconds(1), .seconds(5)], totalLimit: .seconds(60))
    }

    package var scale: DeliveryScale {
        self.bytesInMemory.map { DeliveryScale(messages: self.messagesInMemory, bytes: $0) } ?? .uniform
    }

    var maximumAttempts: Int { self.retryDelays.count + 1 }
}

/// Weighs messages in delivery's memory: 1 for a message of the usual size, more for a large one. One bound on the sum
/// of the weights then limits both the number of messages and their bytes.
package struct DeliveryScale: Sendable, Hashable {
    /// The bytes that make a message heavier by 1.
    package let step: Int
    /// The largest weight. A heavier message might never find room.
    package let heaviest: Int

    package static let uniform = DeliveryScale(messages: 1, bytes: .max)

    init(messages: Int, bytes: Int) {
        self.step = max(1, bytes / max(1, messages))
        self.heaviest = max(1, messages / 4)
    }

    package func weight(of bytes: Int) -> Int { bytes < self.step ? 1 : min(1 + bytes / self.step, self.heaviest) }
}
