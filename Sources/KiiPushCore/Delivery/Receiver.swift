/// Decides what happens to each push of an installation.
package protocol Receiver: Sendable {
    var handler: any NotificationHandler { get }

    /// Called on delivery's threads.
    func state(of message: QueuedMessage) -> LifecycleState

    /// Called on delivery's threads without a lock. It may block.
    func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute
}

package enum DeliveryRoute: Sendable {
    case handler
    /// No handler is called. The message becomes done with ``FetchResult/noData``.
    case nobody
    /// The closure may block, and returns whether it showed an alert. If true and `isForHandler` is false, the message
    /// waits in the store for the user's reaction. In all other cases the handler gets the message.
    case show(@Sendable () -> Bool, isForHandler: Bool)
    /// Calls this closure instead of the handler, with the same rules for the answer.
    case invoke(@Sendable (FetchCompletion) -> Void)
}

final class DeliveryAttachment: Sendable {
    let id: String
    let receiver: any Receiver
    let form: HandlerForm
    let commandHandler: (any ThingCommandHandler)?

    init(id: String, receiver: any Receiver) {
        self.id = id
        self.receiver = receiver
        self.form = HandlerForm(receiver.handler)
        self.commandHandler = receiver.handler as? any ThingCommandHandler
    }
}

enum HandlerForm: Sendable {
    case completion(any RemoteNotificationHandler)
    case async(any AsyncRemoteNotificationHandler)
    case plain(@Sendable (ReceivedMessage) -> Void)
    /// The handler conforms to no protocol for pushes. A call of the handler fails with an error that says so.
    case none

    /// Checks the protocols for pushes in the order of Kii's "Reception Handler" page.
    init(_ handler: any NotificationHandler) {
        if let handler = handler as? any RemoteNotificationHandler {
            self = .completion(handler)
        } else if let handler = handler as? any AsyncRemoteNotificationHandler {
            self = .async(handler)
        } else if let call = plainForm.call(of: handler) {
            self = .plain(call)
        } else {
            self = .none
        }
    }
}

/// Only deprecated code may name the deprecated protocol without a warning. A call through `PlainForm` gives no warning
/// either.
private let plainForm: any PlainForm = DeprecatedPlainForm()

private protocol PlainForm: Sendable {
    func call(of handler: any NotificationHandler) -> (@Sendable (ReceivedMessage) -> Void)?
}

private struct DeprecatedPlainForm: PlainForm {
    @available(*, deprecated)
    func call(of handler: any NotificationHandler) -> (@Sendable (ReceivedMessage) -> Void)? {
        guard let handler = handler as? any PlainRemoteNotificationHandler else { return nil }
        return { handler.didReceiveRemoteNotification($0) }
    }
}
