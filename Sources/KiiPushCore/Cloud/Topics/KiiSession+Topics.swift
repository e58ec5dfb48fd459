extension KiiSession {
    /// Creates a topic. One of the app's own needs an administrator's token.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - acceptsExisting: Whether a topic that is there already is a success; it is left as it was. Default: yes.
    /// - Returns: Whether this call created it. When its answer was lost and the call was repeated, it may have been the
    ///   first request.
    /// - Throws: ``KiiError`` with `TOPIC_ALREADY_EXISTS` unless `acceptsExisting`.
    /// - Source: `PUT /apps/{appID}/{scope}/topics/{topicID}` with an empty body
    @discardableResult
    public func createTopic(_ topic: Topic, acceptsExisting: Bool = true) async throws -> Bool {
        try await self.perform(
            .making(
                topic.path(), statuses: [204], existing: KiiErrorCode.topicAlreadyExists,
                acceptsExisting: acceptsExisting))
    }

    /// Asks whether a topic is there. A missing app, user, group or thing is an error.
    ///
    /// It uses GET, since the answer to HEAD has no body: only the body tells a missing topic from a missing app or
    /// user. If the topic exists, Kii answers GET and HEAD alike.
    ///
    /// - Source: `GET /apps/{appID}/{scope}/topics/{topicID}`; Kii's text says 200, its SDKs take 204 as well
    public func topicExists(_ topic: Topic) async throws -> Bool {
        try await self.perform(.asking(topic.path(), statuses: [200, 204], absent: [KiiErrorCode.topicNotFound]))
    }

    /// Removes a topic with its subscriptions.
    ///
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND` when it is not there.
    /// - Source: `DELETE /apps/{appID}/{scope}/topics/{topicID}`
    public func deleteTopic(_ topic: Topic) async throws {
        try await self.perform(KiiCall(.delete, topic.path(), statuses: [204]))
    }

    /// A scope's topics. Users and things see those they may subscribe to.
    ///
    /// - Source: `GET /apps/{appID}/{scope}/topics[?paginationKey=…]`
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

/// A topic's access control list: for administrators, the owner of the topic's scope, and the topic's creator.
extension KiiSession {
    /// Reads a topic's access control list. A right that nobody has can be absent or empty; members of a group count
    /// through the group alone.
    ///
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND` when there is no such topic.
    /// - Source: `GET …/topics/{topicID}/acl`; the reference gives each subject as an object with one of `userID`,
    ///   `groupID` and `thingID`, and the form of a path (`UserID:…`) is read as well
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

    /// Asks whether `subject` itself is allowed `verb`. What it may do through a group does not count. A missing topic,
    /// user, group or thing is an error.
    ///
    /// - Source: `GET …/topics/{topicID}/acl/{verb}/{subject}`
    public func isGranted(_ verb: TopicVerb, on topic: Topic, to subject: AccessSubject) async throws -> Bool {
        let path = try topic.entry(of: subject, for: verb)
        return try await self.perform(.asking(path, statuses: [200, 204], absent: [KiiErrorCode.aclNotFound]))
    }

    /// Allows `subject` to do `verb` with a topic. ``AccessSubject/anonymousUser`` is refused.
    ///
    /// - Parameters:
    ///   - verb: What is allowed.
    ///   - topic: The topic.
    ///   - subject: Who may do it.
    ///   - acceptsExisting: Whether an entry that is there already is a success. Default: yes.
    /// - Returns: Whether this call made the entry.
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND` when there is no such topic, with `ACL_ALREADY_EXISTS` unless
    ///   `acceptsExisting`.
    /// - Source: `PUT …/topics/{topicID}/acl/{verb}/{subject}` with an empty body; Kii's documents name no status
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

    /// Takes back what was allowed on a topic. What somebody may do through a group or as one of all stays.
    ///
    /// - Throws: ``KiiError`` with `ACL_NOT_FOUND` when it was not allowed.
    /// - Source: `DELETE …/topics/{topicID}/acl/{verb}/{subject}`; Kii's documents name no status
    public func revoke(_ verb: TopicVerb, on topic: Topic, from subject: AccessSubject) async throws {
        let path = try topic.entry(of: subject, for: verb)
        try await self.perform(KiiCall(.delete, path, statuses: [200, 204]))
    }
}

extension Topic {
    /// Where one entry of the topic's access control list lives.
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
            guard let subject = AccessSubject(path: text) else { throw self.error(.wrongType(.object)) }
            return subject
        }
        let fields = try self.object()
        if let id = try fields.optionalString("groupID") { return .group(id) }
        if let id = try fields.optionalString("thingID") { return .thing(id) }
        return .user(named: try fields.string("userID"))
    }
}
