extension KiiClient {
    /// Creates a topic unless it is there.
    ///
    /// - Returns: Whether this call created it.
    /// - Throws: See ``KiiClient``; never for a topic that is there already.
    @discardableResult
    public func createTopic(_ topic: Topic, token: Secret) async throws -> CreateTopic.Outcome {
        try await self.execute(CreateTopic(topic), token: token)
    }

    /// Creates a topic that must not be there yet.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicAlreadyExists`` when it is there already; otherwise see
    ///   ``KiiClient``.
    public func createTopicStrictly(_ topic: Topic, token: Secret) async throws {
        _ = try await self.execute(CreateTopic(topic, acceptsExisting: false), token: token)
    }

    /// Asks whether a topic is there.
    ///
    /// - Throws: See ``KiiClient``; a missing app, user, group or thing is an error.
    public func topicExists(_ topic: Topic, token: Secret) async throws -> Bool {
        try await self.execute(CheckTopic(topic), token: token)
    }

    /// Removes a topic with its subscriptions.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicNotFound`` when it is not there; otherwise see ``KiiClient``.
    public func deleteTopic(_ topic: Topic, token: Secret) async throws {
        try await self.execute(DeleteTopic(topic), token: token)
    }

    /// Reads one page of a scope's topics.
    ///
    /// - Parameters:
    ///   - scope: Where the topics live.
    ///   - paginationKey: What the page before said. Default `nil`: the first page.
    ///   - token: The token.
    /// - Throws: See ``KiiClient``.
    public func topicPage(
        in scope: Scope,
        paginationKey: String? = nil,
        token: Secret
    ) async throws -> KiiPage<Topic> {
        try await self.execute(ListTopics(in: scope, paginationKey: paginationKey), token: token)
    }

    /// A scope's topics, read page after page as far as they are looked at.
    public func topics(in scope: Scope, token: Secret) -> KiiList<Topic> {
        KiiList(ListTopics(in: scope), client: self, token: token)
    }
}
