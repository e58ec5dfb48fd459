extension KiiSession {
    /// Creates a topic. A topic in the app's scope needs an administrator's token.
    ///
    /// An existing topic stays unchanged, and is an error unless `acceptsExisting`.
    ///
    /// - Returns: `false` if the topic existed already, perhaps made by an earlier request of this call.
    /// - Throws: ``KiiError`` with `TOPIC_ALREADY_EXISTS`.
    /// - Source: `PUT …/topics/{topicID}`
    @discardableResult
    public func createTopic(_ topic: Topic, acceptsExisting: Bool = true) async throws -> Bool {
        try await self.perform(
            .making(
                topic.path(), statuses: [204], existing: KiiErrorCode.topicAlreadyExists,
                acceptsExisting: acceptsExisting))
    }

    /// Checks whether a topic exists. A missing app, user, group or thing is an error.
    ///
    /// - Source: `GET …/topics/{topicID}`. Kii's text says 200; its SDKs also accept 204.
    public func topicExists(_ topic: Topic) async throws -> Bool {
        try await self.perform(.asking(topic.path(), statuses: [200, 204], absent: [KiiErrorCode.topicNotFound]))
    }

    /// Removes a topic with its subscriptions.
    ///
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND`.
    /// - Source: `DELETE …/topics/{topicID}`
    public func deleteTopic(_ topic: Topic) async throws {
        try await self.perform(KiiCall(.delete, topic.path(), statuses: [204]))
    }

    /// Lists a scope's topics. Users and things see the topics that they may subscribe to.
    ///
    /// - Source: `GET …/topics[?paginationKey=…]`
    public func topics(in scope: Scope) -> KiiList<Topic> {
        KiiList(self) {
            KiiCall.reading(scope.path.appending("topics")) { fields throws(KiiResponseError) in
                try KiiPage(fields, "topics") { topic throws(KiiResponseError) in
                    Topic(try topic.string("topicID"), in: scope)
                }
            }
        }
    }
}

/// Access control lists of topics. The caller must be an administrator, the owner of the topic's scope, or the topic's
/// creator.
extension KiiSession {
    /// Reads a topic's access control list. A right that nobody has is absent or empty. A group is one subject: the
    /// list does not name its members.
    ///
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND`.
    /// - Source: `GET …/topics/{topicID}/acl`. A subject is an object, as in Kii's reference, or a text such as
    ///   `UserID:…`.
    public func access(to topic: Topic) async throws -> [TopicVerb: Set<AccessSubject>] {
        try await self.perform(
            .reading(topic.path().appending("acl")) { fields throws(KiiResponseError) in
                var access: [TopicVerb: Set<AccessSubject>] = [:]
                for verb in fields.names {
                    var subjects: Set<AccessSubject> = []
                    for element in try fields.required(verb).elements() { subjects.insert(try element.accessSubject()) }
                    if let verb = TopicVerb(rawValue: verb) { access[verb] = subjects }
                }
                return access
            })
    }

    /// Checks whether `subject` itself has the right `verb`. Rights through a group do not count. A missing topic,
    /// user, group or thing is an error.
    ///
    /// - Source: `GET …/topics/{topicID}/acl/{verb}/{subject}`
    public func isGranted(_ verb: TopicVerb, on topic: Topic, to subject: AccessSubject) async throws -> Bool {
        let path = try topic.entry(of: subject, for: verb)
        return try await self.perform(.asking(path, statuses: [200, 204], absent: [KiiErrorCode.aclNotFound]))
    }

    /// Grants `subject` the right `verb` on a topic. Throws ``KiiInputError`` for ``AccessSubject/anonymousUser``.
    ///
    /// - Returns: `false` if the subject had the right already, perhaps from an earlier request of this call.
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND`, and with `ACL_ALREADY_EXISTS` unless `acceptsExisting`.
    /// - Source: `PUT …/topics/{topicID}/acl/{verb}/{subject}`
    @discardableResult
    public func grant(
        _ verb: TopicVerb, on topic: Topic, to subject: AccessSubject, acceptsExisting: Bool = true
    ) async throws -> Bool {
        let path = try topic.entry(of: subject, for: verb)
        guard subject != .anonymousUser else { throw KiiInputError(.accessSubject, rule: "somebody who signs in") }
        return try await self.perform(
            .making(
                path, statuses: [200, 201, 204], existing: KiiErrorCode.aclAlreadyExists,
                acceptsExisting: acceptsExisting))
    }

    /// Revokes a right on a topic. The subject keeps rights that it has through a group, or as one of all users.
    ///
    /// - Throws: ``KiiError`` with `ACL_NOT_FOUND` when the subject did not have the right.
    /// - Source: `DELETE …/topics/{topicID}/acl/{verb}/{subject}`
    public func revoke(_ verb: TopicVerb, on topic: Topic, from subject: AccessSubject) async throws {
        let path = try topic.entry(of: subject, for: verb)
        try await self.perform(KiiCall(.delete, path, statuses: [200, 204]))
    }
}

extension Topic {
    fileprivate func entry(of subject: AccessSubject, for verb: TopicVerb) throws(KiiInputError) -> KiiPath {
        let path = try self.path()
        try subject.validate()
        return path.appending("acl").appending(verb.rawValue)
            .appending(subject.description, as: .accessSubject)
    }
}

extension KiiFields {
    fileprivate func accessSubject() throws(KiiResponseError) -> AccessSubject {
        if let text = self.value.string {
            guard let subject = AccessSubject(path: text) else { throw self.failure(.kind(.object)) }
            return subject
        }
        let fields = try self.object()
        if let id = try fields.optionalString("groupID") { return .group(id) }
        if let id = try fields.optionalString("thingID") { return .thing(id) }
        return .user(named: try fields.string("userID"))
    }
}
