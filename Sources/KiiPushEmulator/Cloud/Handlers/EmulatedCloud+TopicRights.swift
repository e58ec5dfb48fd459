import KiiPushCore

extension Route {
    static let topicRights: [Route] = [
        Route("GET", "topics/{topic}/acl", EmulatedCloud.showTopicRights),
        Route("GET", "topics/{topic}/acl/{verb}", EmulatedCloud.showTopicHolders),
        Route("GET", right, EmulatedCloud.showTopicRight),
        Route("PUT", right, EmulatedCloud.grantTopicRight),
        Route("DELETE", right, EmulatedCloud.revokeTopicRight),
    ]
    private static let right = "topics/{topic}/acl/{verb}/{subject}"
}

extension EmulatedCloud {
    func may(_ caller: Caller, _ verb: TopicRights.Verb, _ record: TopicRecord) -> Bool {
        self.right(to: verb, record)(caller)
    }

    /// Returns a closure, since a send checks the right once for each recipient.
    func right(to verb: TopicRights.Verb, _ record: TopicRecord) -> (Caller) -> Bool {
        let holders = record.rights.holders(of: verb)
        let shared = holders.filter { $0.parts?.kind != "user" }
        return { caller in
            if caller == .admin { return true }
            if caller != .anonymous, holders.contains(TopicRights.anyAuthenticatedUser) { return true }
            if let id = caller.userID, holders.contains(.user(id)) { return true }
            return shared.contains { self.belongs(caller, to: $0) }
        }
    }

    func mayManage(_ caller: Caller, _ record: TopicRecord) -> Bool {
        if caller == .admin || caller == record.creator { return true }
        guard case .group(let groupID) = record.topic.scope else {
            return record.topic.scope != .app && self.belongs(caller, to: record.topic.scope)
        }
        return self.state.groups[groupID].map { self.mayManage(caller, $0) } ?? false
    }

    func managedTopic(_ call: CloudCall) throws(KiiFailure) -> TopicRecord {
        let record = try self.existingTopic(call)
        try self.require(self.mayManage(call.caller, record), call, "No right to manage this topic.")
        return record
    }

    func showTopicRights(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        .json(200, "ACLRetrievalResponse", try self.managedTopic(call).rights.answer)
    }

    func showTopicHolders(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let verb = try self.verb(call)
        return .json(200, "ACLVerbRetrievalResponse", try self.managedTopic(call).rights.answer(for: verb))
    }

    func showTopicRight(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.holders(of: verb).contains(holder) else { throw self.accessNotFound(record, holder) }
        return .json(200, "ACLSubjectRetrievalResponse", .object(holder.fields))
    }

    func grantTopicRight(_ call: CloudCall) throws(KiiFailure) {
        var record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.grant(verb, to: holder) else {
            throw self.failure(409, "ACL_ALREADY_EXISTS", "The subject has the right already.", record, holder)
        }
        self.state.save(record)
    }

    /// A principal that loses the right keeps its subscription, but gets no messages.
    func revokeTopicRight(_ call: CloudCall) throws(KiiFailure) {
        var record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.revoke(verb, from: holder) else { throw self.accessNotFound(record, holder) }
        self.state.save(record)
    }

    private func accessNotFound(_ record: TopicRecord, _ holder: Scope) -> KiiFailure {
        self.failure(404, "ACL_NOT_FOUND", "The subject does not have the right.", record, holder)
    }

    private func failure(
        _ status: Int, _ code: String, _ message: String, _ record: TopicRecord, _ holder: Scope
    ) -> KiiFailure {
        let topic = SubscriptionTarget.topic(record.topic).fields(app: self.appID)
        return KiiFailure(status, code, message).about(topic + [("subject", JSONValue(holder.subject))])
    }

    private func verb(_ call: CloudCall) throws(KiiFailure) -> TopicRights.Verb {
        guard let verb = TopicRights.Verb(rawValue: call["verb"]) else {
            let known = TopicRights.Verb.allCases.map { $0.rawValue }.joined(separator: ", ")
            throw .invalidInput("The verb has to be one of \(known).")
        }
        return verb
    }

    private func right(_ call: CloudCall) throws(KiiFailure) -> (TopicRights.Verb, holder: Scope) {
        let verb = try self.verb(call)
        // By Kii's reference, anonymous users cannot get rights to a topic.
        guard let holder = Scope(subject: call["subject"]), holder != .user("ANONYMOUS_USER") else {
            let known = "UserID:{id}, GroupID:{id}, ThingID:{id} or UserID:ANY_AUTHENTICATED_USER"
            throw .invalidInput("The subject has to be \(known).")
        }
        if holder != TopicRights.anyAuthenticatedUser { try self.checkExistence(of: holder) }
        return (verb, holder)
    }
}
