import KiiPushCore

@MainActor
final class MessageList {
    private(set) var texts: [String] = []

    func add(_ text: String) { self.texts.append(text) }
}

struct ListHandler: AsyncRemoteNotificationHandler {
    let list: MessageList

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult {
        await self.list.add(message.alertBody ?? message["msg"]?.string ?? "")
        return .newData
    }
}
