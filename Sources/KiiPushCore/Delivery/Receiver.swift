/// Whom the messages of an installation are for, and what is to be done with each.
package protocol Receiver: Sendable {
    var handler: any NotificationHandler { get }

    /// Where the program stands, as far as an attempt to deliver this message is concerned. Called on delivery's threads.
    func state(of message: QueuedMessage) -> LifecycleState

    /// Decides about one attempt to deliver a message. Called on delivery's threads, never under a lock; it may block.
    func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute
}

/// What is to be done with a message.
package enum DeliveryRoute: Sendable {
    case handler
    /// Nobody: the message is done, without data.
    case nobody
    /// The closure shows an alert and returns whether it did; it may block. A message that is shown rests in the store until
    /// the user reacts, unless it is for the handler too. One that is not shown is handed to the handler.
    case show(@Sendable () -> Bool, isForHandler: Bool)
    /// Calls this closure instead of the handler, by the same rules.
    case invoke(@Sendable (FetchCompletion) -> Void)
}
