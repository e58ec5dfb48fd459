/// A handler of an agent's messages: a type that conforms to one (or more) of the protocols below this one.
///
/// Do not conform to this protocol alone. If a type conforms to several, the agent calls one form, the first in this
/// order:
/// ``RemoteNotificationHandler``, ``AsyncRemoteNotificationHandler``, ``PlainRemoteNotificationHandler``.
///
/// - Source: Kii's "Reception Handler" page: "If you implement both, the
///   application(_:didReceiveRemoteNotification:) method will not be called."
public protocol NotificationHandler: Sendable {}

/// Handles messages and answers through a completion: the form of UIKit and of Kii's reception page.
///
/// Every rule of ``FetchCompletion`` applies. Messages of one source (a topic, a bucket, or the sender of direct
/// pushes) start in the order of their reception, the next one when the one before has been answered and its call has
/// returned. Messages of different sources run at the same time, four by default.
///
/// A message may be delivered more than once: after a failure, after a crash, or because the broker delivered it again.
/// ``DeliveryContext/attempt`` and ``DeliveryContext/messageID`` tell such deliveries apart.
public protocol RemoteNotificationHandler: NotificationHandler {
    /// A message arrived. The library calls this on a thread of its own, never on the main actor and never on the
    /// cooperative pool, so it may block. It may return before it answers: the work that it started continues, and
    /// answers when it is done.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - context: which attempt this is, until when an answer counts, and where the message comes from.
    ///   - completion: takes the answer, once, within 30 seconds.
    /// - Source: `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; "The completionHandler block is
    ///   called at the end of the process. This block must be called within 30 seconds after the method is executed."
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion)
}

/// Handles messages in an asynchronous function, whose result is the answer.
///
/// The rules of ``RemoteNotificationHandler`` apply. At the deadline the library cancels the task. Returning
/// ``FetchResult/newData`` or ``FetchResult/noData`` after that, and before the next attempt, counts.
public protocol AsyncRemoteNotificationHandler: NotificationHandler {
    /// A message arrived. The function runs in a task of its own. The task starts on a thread of the library; after its
    /// first suspension it continues where its isolation says.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - context: which attempt this is, until when an answer counts, and where the message comes from.
    /// - Returns: what became of it; ``FetchResult/failed`` and a thrown error both mean "try again".
    /// - Throws: whatever made the attempt fail. The inbox keeps its description with the message, cut to 500 Unicode
    ///   scalars.
    func didReceiveRemoteNotification(_ message: ReceivedMessage, context: DeliveryContext) async throws -> FetchResult
}

/// Handles messages in a closure: the form of ``AsyncRemoteNotificationHandler`` without a type of one's own.
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
/// A handler conforms to it besides one of the other protocols. Without it a command becomes a dead letter. Report the
/// results of the command with ``KiiSession/report(_:of:thing:)``; the answer says only that the command was dealt
/// with.
public protocol ThingCommandHandler: Sendable {
    /// A command arrived. Called as ``RemoteNotificationHandler`` is, with the same rules for the answer.
    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion)
}
