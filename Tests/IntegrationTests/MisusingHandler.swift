import KiiPushCore

/// Passes the completion of each message to `misuse`. Messages from number 1,000 on succeed.
struct MisusingHandler: RemoteNotificationHandler {
    let misuse: @Sendable (DeliveryContext, FetchCompletion) -> Void

    init(_ misuse: @escaping @Sendable (DeliveryContext, FetchCompletion) -> Void) { self.misuse = misuse }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        if message.number >= 1000 { completion(.newData) } else { self.misuse(context, completion) }
    }
}

struct AsyncMisusingHandler: AsyncRemoteNotificationHandler {
    let misuse: @Sendable (DeliveryContext) async throws -> FetchResult

    init(_ misuse: @escaping @Sendable (DeliveryContext) async throws -> FetchResult) { self.misuse = misuse }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult {
        message.number >= 1000 ? .newData : try await self.misuse(context)
    }
}

extension ReceivedMessage {
    fileprivate var number: Int64 { self.rawPayload["n"]?.int64 ?? 0 }
}

final class CompletionShelf: Sendable {
    private let (held, hold) = AsyncStream<FetchCompletion>.makeStream()

    var handler: MisusingHandler { MisusingHandler { self.put($1) } }

    func put(_ completion: FetchCompletion) { self.hold.yield(completion) }

    /// Waits for the next completion. The event of an attempt's start precedes the call of the handler.
    func take() async throws -> FetchCompletion {
        for await completion in self.held { return completion }
        throw CancellationError()
    }
}
