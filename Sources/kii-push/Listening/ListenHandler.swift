import KiiPushCore

/// The handler of `listen`: has a message shown, and then answered.
final class ListenHandler: RemoteNotificationHandler {
    private let view: ListenView

    init(_ view: ListenView) { self.view = view }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.view.take(message, context, completion)
    }
}

/// The same where somebody outside answers, who also takes thing-if's commands, as in `run`. Those are not shown.
struct OutsideListenHandler: RemoteNotificationHandler, ThingCommandHandler {
    let messages: ListenHandler
    let bridge: OutsideBridge

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.messages.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.bridge.didReceiveThingCommand(command, context: context, fetchCompletionHandler: completion)
    }
}
