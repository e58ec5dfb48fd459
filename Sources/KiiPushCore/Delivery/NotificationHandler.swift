/// The base of all handlers of an agent's messages. Conform to one of the protocols below, never to this one alone.
///
/// If a type conforms to several, the agent uses the first in this order: ``RemoteNotificationHandler``,
/// ``AsyncRemoteNotificationHandler``, ``PlainRemoteNotificationHandler``.
///
/// - Source: the order of Kii's "Reception Handler" page.
public protocol NotificationHandler: Sendable {}

/// Handles messages and answers through a completion, as in UIKit and on Kii's reception page.
///
/// Every rule of ``FetchCompletion`` applies. A source is a topic, a bucket, or the sender of direct pushes. First
/// attempts of one source start in the order of reception. An attempt starts after the source's previous call has its
/// answer and has returned, unless that call blocks long after its deadline. Messages of different sources run at the
/// same time, four by default.
///
/// A message may be delivered more than once: after a failure or a crash, when the user opens its notification, when a
/// person retries it, or because the broker delivered it again.
/// ``DeliveryContext/attempt`` and ``DeliveryContext/messageID`` tell such deliveries apart.
public protocol RemoteNotificationHandler: NotificationHandler {
    /// A message arrived. The library calls this on its own threads, never on the main actor or the cooperative pool,
    /// so the call may block. Work that the call started may continue after the return, and answer through
    /// `completion`, within 30 seconds.
    ///
    /// - Source: `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; "This block must be called
    ///   within 30 seconds after the method is executed."
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion)
}

/// Handles messages in an asynchronous function, whose result is the answer.
///
/// The rules of ``RemoteNotificationHandler`` apply. At the deadline the library cancels the task. A success that the
/// task then returns may still count, as ``FetchCompletion`` describes.
public protocol AsyncRemoteNotificationHandler: NotificationHandler {
    /// A message arrived. The function runs in its own task, which starts on a thread of the library. After its first
    /// suspension it continues where its isolation says.
    ///
    /// - Returns: the answer. ``FetchResult/failed`` and a thrown error both lead to a retry.
    /// - Throws: any error. The failure keeps its description, cut to 500 Unicode scalars.
    func didReceiveRemoteNotification(_ message: ReceivedMessage, context: DeliveryContext) async throws -> FetchResult
}

struct ClosureHandler: AsyncRemoteNotificationHandler {
    let body: @Sendable (ReceivedMessage, DeliveryContext) async throws -> FetchResult

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult { try await self.body(message, context) }
}

/// Handles messages without an answer: returning means ``FetchResult/newData``.
///
/// - Source: UIKit's `application(_:didReceiveRemoteNotification:)`, which Kii's page calls "deprecated in iOS 10".
@available(*, deprecated, message: "conform to RemoteNotificationHandler: without an answer no failure is tried again")
public protocol PlainRemoteNotificationHandler: NotificationHandler {
    /// A message arrived. Called as ``RemoteNotificationHandler`` is.
    func didReceiveRemoteNotification(_ message: ReceivedMessage)
}

/// Handles thing-if commands, which arrive on the same MQTT topic as pushes.
///
/// A type conforms to this protocol and to one for pushes, such as ``RemoteNotificationHandler``. If the agent's
/// handler does not conform to ``ThingCommandHandler``, a command becomes a dead letter. The answer only says that the
/// program has dealt with the command; ``KiiSession/report(_:of:thing:)`` reports the command's results.
public protocol ThingCommandHandler: Sendable {
    /// A command arrived. Called as ``RemoteNotificationHandler`` is, with the same rules for the answer.
    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion)
}
