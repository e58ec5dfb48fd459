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
    /// There is nobody whom it is for: it is done, without data.
    case nobody
    /// This shows it to the user, and says whether it does; it may block. Then the message rests in the store until the
    /// user reacts, unless it is for the handler too. What is not shown is handed to the handler.
    case show(@Sendable () -> Bool, isForHandler: Bool)
    /// This is called in place of the handler, by the same rules.
    case invoke(@Sendable (FetchCompletion) -> Void)
}
