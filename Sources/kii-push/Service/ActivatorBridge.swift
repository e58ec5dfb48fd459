import KiiPushActivation
import KiiPushCommandLine
import KiiPushCore

struct ActivatorBridge: RemoteNotificationHandler, ThingCommandHandler, BadgeFollower {
    let activator: Activator
    let notes: MessageNotes

    func follow(_ badge: AgentBadge) { self.activator.follow(badge) }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.notes.begin(HandledMessage(message), context, isWatched: false)
        self.activator.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.notes.begin(HandledMessage(command), context, isWatched: false)
        self.activator.didReceiveThingCommand(command, context: context, fetchCompletionHandler: completion)
    }
}
