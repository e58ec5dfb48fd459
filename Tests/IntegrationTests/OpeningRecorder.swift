import KiiPushCore

final class OpeningRecorder: RemoteNotificationHandler, OpenedNotificationHandler {
    private let entries: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (self.entries, self.continuation) = AsyncStream.makeStream() }

    func next() async -> String? {
        for await entry in self.entries { return entry }
        return nil
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        completion(.newData)
        let opened = context.isUserOpened ? " opened" : ""
        self.continuation.yield("received \(context.messageID) \(context.state)\(opened)")
    }

    func openedFromNotification(_ message: ReceivedMessage) {
        self.continuation.yield("opened \(message.content?.alert?.body ?? "")")
    }
}
