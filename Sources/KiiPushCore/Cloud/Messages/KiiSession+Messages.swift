extension KiiSession {
    /// Sends a message to all that are subscribed to a topic (push to user), or straight to a user's installations
    /// (direct push).
    ///
    /// It is not repeated by itself: a message that is sent twice arrives twice.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - destination: A topic, or a user by `userID`.
    ///   - sizeLimits: How large it may be on each network. Default: what Kii documents.
    /// - Returns: The ID that the cloud gave the message. Receivers do not get it.
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse it; ``KiiError`` with
    ///   `TOPIC_NOT_FOUND` or `USER_NOT_FOUND` when the destination is not there.
    /// - Source: `POST …/topics/{topicID}/push/messages` and `POST /apps/{appID}/users/{userID}/push/messages`. There is
    ///   no such resource for a thing. Kii documents the body of the answer and not its status
    @discardableResult
    public func send(
        _ message: PushMessage, to destination: PushDestination, sizeLimits: PushMessage.SizeLimits = .init()
    ) async throws -> String {
        try await self.perform(.sending(message, to: destination, sizeLimits: sizeLimits))
    }
}

extension KiiCall where Answer == String {
    /// The call of ``KiiSession/send(_:to:sizeLimits:)``.
    package static func sending(
        _ message: PushMessage, to destination: PushDestination, sizeLimits: PushMessage.SizeLimits = .init()
    ) throws(KiiInputError) -> Self {
        let call = try Self.sending(body: message.json, to: destination)
        try message.validate(sizeLimits: sizeLimits, to: destination)
        return call
    }

    /// The same call with a body that the caller wrote, which the cloud alone checks.
    ///
    /// - Source: `application/vnd.kii.SendPushMessageRequest+json`
    package static func sending(body: JSONValue, to destination: PushDestination) throws(KiiInputError) -> Self {
        let path =
            switch destination {
            case .topic(let topic): try topic.path()
            case .user(let userID): Scope.user(userID).path
            }
        return Self(.post, path.appending("push", "messages"), statuses: [200, 201, 202]) {
            response throws(KiiResponseError) in
            try response.fields().string("pushMessageID")
        }.with {
            $0.body = .json(body, mediaType: "application/vnd.kii.SendPushMessageRequest+json")
        }
    }
}

/// Where a message goes.
public enum PushDestination: Sendable, Hashable {
    /// To all that are subscribed. An app-scope topic usually needs an administrator's token.
    case topic(Topic)
    /// To all installations of a user, by `userID`. Usually needs an administrator's token.
    case user(String)
}
