extension KiiSession {
    /// Sends a message to all subscribers of a topic (push to user), or to all installations of a user (direct push).
    ///
    /// The client does not repeat the call after a lost answer: receivers might get the message twice.
    ///
    /// - Returns: the message's ID, which receivers do not get.
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse the message; ``KiiError`` with
    ///   `TOPIC_NOT_FOUND` or `USER_NOT_FOUND`.
    /// - Source: `POST …/topics/{topicID}/push/messages` and `POST /apps/{appID}/users/{userID}/push/messages`
    @discardableResult
    public func send(
        _ message: PushMessage, to destination: PushDestination, sizeLimits: PushMessage.SizeLimits = .init()
    ) async throws -> String {
        try await self.perform(.sending(message, to: destination, sizeLimits: sizeLimits))
    }
}

extension KiiCall where Answer == String {
    package static func sending(
        _ message: PushMessage, to destination: PushDestination, sizeLimits: PushMessage.SizeLimits = .init()
    ) throws(KiiInputError) -> Self {
        let call = try Self.sending(body: message.json, to: destination)
        try message.validate(sizeLimits: sizeLimits, to: destination)
        return call
    }

    /// The call does not check `body`; the cloud does.
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

/// The destination of a message.
public enum PushDestination: Sendable, Hashable {
    /// All subscribers of a topic. A topic in the app's scope usually needs an administrator's token.
    case topic(Topic)
    /// All installations of a user, by `userID`. Usually needs an administrator's token.
    case user(String)
}
