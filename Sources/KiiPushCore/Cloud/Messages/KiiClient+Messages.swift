extension KiiClient {
    /// Sends a message to all that are subscribed to `topic`.
    ///
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse it; ``KiiError`` with
    ///   ``KiiErrorCode/topicNotFound`` when there is no such topic; otherwise see ``KiiClient``.
    @discardableResult
    public func send(_ message: PushMessage, to topic: Topic, token: Secret) async throws -> SentMessage {
        try await self.execute(SendPushMessage(message, to: .topic(topic)), token: token)
    }

    /// Sends a message straight to all installations of the user `userID`.
    ///
    /// - Throws: ``KiiInputError`` with the place in the message when Kii would refuse it; ``KiiError`` with
    ///   ``KiiErrorCode/userNotFound`` when there is no such user; otherwise see ``KiiClient``.
    @discardableResult
    public func send(_ message: PushMessage, toUser userID: String, token: Secret) async throws -> SentMessage {
        try await self.execute(SendPushMessage(message, to: .user(userID)), token: token)
    }
}
