/// Sends a message to a topic (push to user) or straight to a user's installations (direct push).
///
/// It is not repeated by itself: a message that is sent twice arrives twice.
///
/// - Source: `POST …/topics/{topicID}/push/messages` and `POST /apps/{appID}/users/{userID}/push/messages`. There is no
///   such resource for a thing.
public struct SendPushMessage: KiiEndpoint {
    /// Where a message goes.
    public enum Destination: Sendable, Hashable {
        /// To all that are subscribed. An app-scope topic usually needs an administrator's token.
        case topic(Topic)
        /// To all installations of a user, by `userID`. Usually needs an administrator's token.
        case user(String)
    }

    /// What is sent.
    public var message: PushMessage
    /// Where it goes.
    public var destination: Destination
    /// How large it may be on each network; checked before it is sent.
    public var sizeLimits: PushMessage.SizeLimits

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - message: What is sent.
    ///   - destination: Where it goes.
    ///   - sizeLimits: How large it may be on each network. Default: what Kii documents.
    public init(
        _ message: PushMessage,
        to destination: Destination,
        sizeLimits: PushMessage.SizeLimits = .documented
    ) {
        self.message = message
        self.destination = destination
        self.sizeLimits = sizeLimits
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// 200 to 202: Kii documents the body of the answer and not its status.
    public var successStatuses: Set<Int> { [200, 201, 202] }

    /// The message.
    public var body: KiiBody {
        .json(self.message.json, mediaType: "application/vnd.kii.SendPushMessageRequest+json")
    }

    /// The destination's messages.
    public func path(in app: KiiApp) -> KiiPath {
        let destination =
            switch self.destination {
            case .topic(let topic): KiiPath.app(app).appending(topic)
            case .user(let userID): KiiPath.app(app).appending(Scope.user(userID))
            }
        return destination.appending("push", "messages")
    }

    /// Refuses a topic's ID and a message that Kii refuses.
    public func validate() throws(KiiInputError) {
        if case .topic(let topic) = self.destination { try topic.validate() }
        try self.message.validate(sizeLimits: self.sizeLimits, to: self.destination)
    }

    /// Reads `pushMessageID`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> SentMessage {
        SentMessage(id: try response.fields().string("pushMessageID"))
    }
}

/// A message that the cloud has taken.
public struct SentMessage: Sendable, Hashable {
    /// The ID that the cloud gave it. Receivers do not get it.
    public var id: String

    /// Names a message.
    public init(id: String) {
        self.id = id
    }
}
