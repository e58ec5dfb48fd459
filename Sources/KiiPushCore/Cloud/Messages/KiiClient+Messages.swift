extension KiiClient {
    /// Sends a message to all that are subscribed to `topic`.
    ///
    /// - Parameters:
    ///   - message: What is sent.
    ///   - topic: Where it goes.
    ///   - sizeLimits: How large it may be on each network. Default: what Kii documents.
    ///   - token: The token.
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse it; ``KiiError`` with
    ///   ``KiiErrorCode/topicNotFound`` when there is no such topic; otherwise see ``KiiClient``.
    @discardableResult
    public func send(
        _ message: PushMessage,
        to topic: Topic,
        sizeLimits: PushMessage.SizeLimits = .documented,
        token: Secret
    ) async throws -> SentMessage {
        try await self.execute(SendPushMessage(message, to: .topic(topic), sizeLimits: sizeLimits), token: token)
    }

    /// Sends a message straight to all installations of the user `userID`.
    ///
    /// - Parameters:
    ///   - message: What is sent.
    ///   - userID: Whose installations get it.
    ///   - sizeLimits: How large it may be on each network. Default: what Kii documents.
    ///   - token: The token, usually an administrator's.
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse it; ``KiiError`` with
    ///   ``KiiErrorCode/userNotFound`` when there is no such user; otherwise see ``KiiClient``.
    @discardableResult
    public func send(
        _ message: PushMessage,
        toUser userID: String,
        sizeLimits: PushMessage.SizeLimits = .documented,
        token: Secret
    ) async throws -> SentMessage {
        try await self.execute(SendPushMessage(message, to: .user(userID), sizeLimits: sizeLimits), token: token)
    }
}
