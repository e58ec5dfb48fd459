import KiiPushCore

/// A handler that does to its completion what a test tells it to do, and treats every message from 1,000 on well.
struct MisusingHandler: RemoteNotificationHandler {
    let misuse: @Sendable (DeliveryContext, FetchCompletion) -> Void

    init(_ misuse: @escaping @Sendable (DeliveryContext, FetchCompletion) -> Void) { self.misuse = misuse }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        if message.number >= 1000 { completion(.newData) } else { self.misuse(context, completion) }
    }
}

/// The same for the asynchronous form.
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

/// Completions that a handler has kept.
final class CompletionShelf: Sendable {
    private let (held, hold) = AsyncStream<FetchCompletion>.makeStream()

    /// Puts every completion here and answers none.
    var handler: MisusingHandler { MisusingHandler { self.put($1) } }

    func put(_ completion: FetchCompletion) { self.hold.yield(completion) }

    /// Waits for the next one: an attempt is said to have started before its handler is called.
    func take() async throws -> FetchCompletion {
        for await completion in self.held { return completion }
        throw CancellationError()
    }
}
