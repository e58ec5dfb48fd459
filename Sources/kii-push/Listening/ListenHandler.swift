import KiiPushCore

/// The handler of `listen`: has a message shown, and then answered.
final class ListenHandler: RemoteNotificationHandler {
    private let view: ListenView
    private let bridge: OutsideBridge?

    init(_ view: ListenView, _ bridge: OutsideBridge?) {
        self.view = view
        self.bridge = bridge
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        Task {
            switch try? await self.view.admit(message, context) {
            case .answer(let result): completion(result)
            case .handOver:
                self.bridge?.didReceiveRemoteNotification(
                    message, context: context, fetchCompletionHandler: completion)
            case .leave: try? await Task.sleep(for: .seconds(3600))
            // Let go of unanswered, it has failed.
            case nil: break
            }
            withExtendedLifetime(completion) {}
        }
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
