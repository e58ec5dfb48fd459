import KiiPushCore

extension Route {
    /// Who may subscribe to a topic and send to it.
    static let topicRights: [Route] = [
        Route("GET", "topics/{topic}/acl") { cloud, call throws(KiiFailure) in
            .json(200, "ACLRetrievalResponse", try cloud.managedTopic(call).rights.description)
        },
        Route("GET", right) { cloud, call throws(KiiFailure) in try cloud.showTopicRight(call) },
        Route("PUT", right) { cloud, call throws(KiiFailure) in try cloud.grantTopicRight(call) },
        Route("DELETE", right) { cloud, call throws(KiiFailure) in try cloud.revokeTopicRight(call) },
    ]
    private static let right = "topics/{topic}/acl/{verb}/{subject}"
}

extension EmulatedCloud {
    func may(_ caller: Caller, _ verb: TopicRights.Verb, _ record: TopicRecord) -> Bool {
        guard caller != .admin else { return true }
        return record.rights.holders(of: verb).contains { holder in
            switch holder {
            case .user(let id): caller == .user(id)
            case .group(let id): self.belongs(caller, to: .group(id))
            case .thing(let id): self.mayAct(caller, for: .thing(id))
            case .anyAuthenticatedUser: caller != .anonymous
            }
        }
    }

    /// Whether `caller` may delete the topic and change the rights to it: the administrator, the owner of the scope,
    /// the creator of the topic.
    func mayManage(_ caller: Caller, _ record: TopicRecord) -> Bool {
        if caller == .admin || caller == record.creator { return true }
        guard case .group(let groupID) = record.topic.scope else {
            return record.topic.scope != .app && self.belongs(caller, to: record.topic.scope)
        }
        return caller == self.state.groups[groupID].map { .user($0.owner) }
    }

    /// The topic of the path, which exists and is the caller's to manage.
    func managedTopic(_ call: CloudCall) throws(KiiFailure) -> TopicRecord {
        let record = try self.existingTopic(call)
        try self.require(self.mayManage(call.caller, record), call, "No right to manage this topic.")
        return record
    }

    mutating func showTopicRight(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.holders(of: verb).contains(holder) else {
            throw .accessNotFound(record.topic, holder, app: self.appID)
        }
        return .json(200, "ACLSubjectRetrievalResponse", holder.description)
    }

    mutating func grantTopicRight(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.grant(verb, to: holder) else { throw .accessExists(record.topic, holder, app: self.appID) }
        self.state.save(record)
        return .noContent
    }

    /// Whoever has subscribed stays subscribed: a right is looked at when it is used.
    mutating func revokeTopicRight(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var record = try self.managedTopic(call)
        let (verb, holder) = try self.right(call)
        guard record.rights.revoke(verb, from: holder) else {
            throw .accessNotFound(record.topic, holder, app: self.appID)
        }
        self.state.save(record)
        return .noContent
    }

    /// Verb and subject of the path; the subject exists.
    private func right(_ call: CloudCall) throws(KiiFailure) -> (TopicRights.Verb, TopicRights.Holder) {
        guard let verb = TopicRights.Verb(rawValue: call["verb"]) else {
            let known = TopicRights.Verb.allCases.map { $0.rawValue }.joined(separator: ", ")
            throw .invalidInput("The verb has to be one of \(known).")
        }
        // The reference: anonymous users cannot be given rights to a topic.
        guard let holder = TopicRights.Holder(text: call["subject"]), holder != .user("ANONYMOUS_USER") else {
            let known = "UserID:{id}, GroupID:{id}, ThingID:{id} or UserID:ANY_AUTHENTICATED_USER"
            throw .invalidInput("The subject has to be \(known).")
        }
        switch holder {
        case .user(let id): _ = try self.user(id: id)
        case .group(let id): _ = try self.group(id: id)
        case .thing(let id): _ = try self.thing(id: id)
        case .anyAuthenticatedUser: break
        }
        return (verb, holder)
    }
}

extension KiiFailure {
    static func accessExists(_ topic: Topic, _ holder: TopicRights.Holder, app: String) -> KiiFailure {
        let context = SubscriptionTarget.topic(topic).fields(app: app) + [("subject", JSONValue(holder.text))]
        return KiiFailure(409, "ACL_ALREADY_EXISTS", "The subject has the right already.", context)
    }

    static func accessNotFound(_ topic: Topic, _ holder: TopicRights.Holder, app: String) -> KiiFailure {
        let context = SubscriptionTarget.topic(topic).fields(app: app) + [("subject", JSONValue(holder.text))]
        return KiiFailure(404, "ACL_NOT_FOUND", "The subject does not have the right.", context)
    }
}
