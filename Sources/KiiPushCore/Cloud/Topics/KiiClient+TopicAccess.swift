extension KiiClient {
    /// Reads all that is allowed on a topic.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicNotFound`` when there is no such topic; otherwise see
    ///   ``KiiClient``.
    public func access(to topic: Topic, token: Secret) async throws -> TopicAccess {
        try await self.execute(GetTopicAccess(to: topic), token: token)
    }

    /// Asks whether `subject` itself is allowed `verb` on a topic; what it may do through a group does not count.
    ///
    /// - Throws: See ``KiiClient``; a missing topic, user, group or thing is an error.
    public func isGranted(
        _ verb: TopicVerb,
        on topic: Topic,
        to subject: AccessSubject,
        token: Secret
    ) async throws -> Bool {
        try await self.execute(CheckTopicAccess(of: subject, for: verb, to: topic), token: token)
    }

    /// Allows `subject` to do `verb` with a topic, unless it is allowed.
    ///
    /// - Returns: Whether this call made the entry.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicNotFound`` when there is no such topic; otherwise see
    ///   ``KiiClient``. Never for an entry that is there already.
    @discardableResult
    public func grant(
        _ verb: TopicVerb,
        on topic: Topic,
        to subject: AccessSubject,
        token: Secret
    ) async throws -> GrantTopicAccess.Outcome {
        try await self.execute(GrantTopicAccess(verb, on: topic, to: subject), token: token)
    }

    /// Allows `subject` to do `verb` with a topic, which must not be allowed yet.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/aclAlreadyExists`` when it is; otherwise as
    ///   ``grant(_:on:to:token:)``.
    public func grantStrictly(
        _ verb: TopicVerb,
        on topic: Topic,
        to subject: AccessSubject,
        token: Secret
    ) async throws {
        _ = try await self.execute(
            GrantTopicAccess(verb, on: topic, to: subject, acceptsExisting: false), token: token)
    }

    /// Takes back what `subject` was allowed to do with a topic.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/aclNotFound`` when it was not allowed; otherwise see ``KiiClient``.
    public func revoke(
        _ verb: TopicVerb,
        on topic: Topic,
        from subject: AccessSubject,
        token: Secret
    ) async throws {
        try await self.execute(RevokeTopicAccess(verb, on: topic, from: subject), token: token)
    }
}
