/// How messages are handed to handlers. The defaults are those of the design.
package struct DeliveryConfiguration: Sendable, Hashable {
    /// How many handlers run at once. At least 1.
    package var concurrentHandlers = 4
    package var deadline: Duration = .seconds(30)
    /// The pauses between attempts, counted from the failure; one attempt more than there are pauses.
    package var retryDelays: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(1800)]
    /// No attempt starts, and none goes on, later than this after the first one started. `nil`: no such limit.
    package var totalLimit: Duration?
    /// Whether a message that waits for its retry holds back its successors of the same source.
    package var isStrictlyOrdered = false
    /// How many messages are kept in memory; the rest stays in the store.
    package var messagesInMemory = 1000
    /// How many bytes of messages are kept in memory; `nil`: however many.
    package var bytesInMemory: Int?
    /// No more stuck calls than this are given fresh threads; any further one keeps its place until a call returns.
    package var maximumStuckCalls = 64

    /// For an inbox in memory, where an acknowledgement waits for the outcome: three attempts, 60 s in all.
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

    /// Room for `messages`, and for no more than `bytes`.
    init(messages: Int, bytes: Int) {
        self.step = max(1, bytes / max(1, messages))
        self.heaviest = max(1, messages / 4)
    }

    package func weight(of bytes: Int) -> Int { bytes < self.step ? 1 : min(1 + bytes / self.step, self.heaviest) }
}
