import KiiPushCore

struct DinnerHandler: RemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        print("received", message["msg"]?.string ?? "", "in", context.state)
        completion(.newData)
    }
}

extension DinnerHandler: UserActionHandler {
    func handleAction(
        _ action: UserAction,
        for message: ReceivedMessage,
        context: DeliveryContext,
        completionHandler completion: FetchCompletion
    ) {
        print("the user chose", action.identifier ?? "to open it")
        completion(.newData)
    }
}

extension DinnerHandler: OpenedNotificationHandler {
    func openedFromNotification(_ message: ReceivedMessage) {
        print("opened from", message.content?.alert?.body ?? "")
    }
}
