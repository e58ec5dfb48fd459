import KiiPushCore

extension Route {
    /// Who may subscribe to a topic and send to it.
    static let topicRights: [Route] =
        Route.inEveryScope("GET", "topics/{topic}/acl") { (cloud, call) throws(KiiFailure) in
            .json(200, "ACLRetrievalResponse", try cloud.managedTopic(call).rights.description)
        }
        + Route.inEveryScope("GET", "topics/{topic}/acl/{verb}/{subject}") { (cloud, call) throws(KiiFailure) in
            try cloud.showTopicRight(call)
        }
        + Route.inEveryScope("PUT", "topics/{topic}/acl/{verb}/{subject}") { (cloud, call) throws(KiiFailure) in
            try cloud.grantTopicRight(call)
        }
        + Route.inEveryScope("DELETE", "topics/{topic}/acl/{verb}/{subject}") { (cloud, call) throws(KiiFailure) in
            try cloud.revokeTopicRight(call)
        }
}

/// The access control list of a topic.
extension EmulatedCloud {
    /// Whether `caller` may do `verb` with the topic.
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
        guard record.rights.grant(verb, to: holder) else {
            throw .accessExists(record.topic, holder, app: self.appID)
        }
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
            throw .invalidInput(
                "The subject has to be UserID:{id}, GroupID:{id}, ThingID:{id} or UserID:ANY_AUTHENTICATED_USER."
            )
        }
        switch holder {
        case .user(let id) where self.state.users[id] == nil: throw .userNotFound(value: id, app: self.appID)
        case .group(let id) where self.state.groups[id] == nil: throw .groupNotFound(id, app: self.appID)
        case .thing(let id) where self.state.things[id] == nil: throw .thingNotFound(value: id, app: self.appID)
        case .user, .group, .thing, .anyAuthenticatedUser: return (verb, holder)
        }
    }
}

extension KiiFailure {
    static func accessExists(_ topic: Topic, _ holder: TopicRights.Holder, app: String) -> KiiFailure {
        KiiFailure.access("ACL_ALREADY_EXISTS", 409, "The subject has the right already.", topic, holder, app)
    }

    static func accessNotFound(_ topic: Topic, _ holder: TopicRights.Holder, app: String) -> KiiFailure {
        KiiFailure.access("ACL_NOT_FOUND", 404, "The subject does not have the right.", topic, holder, app)
    }

    private static func access(
        _ code: String,
        _ status: Int,
        _ message: String,
        _ topic: Topic,
        _ holder: TopicRights.Holder,
        _ app: String
    ) -> KiiFailure {
        KiiFailure(
            status: status,
            errorCode: code,
            message: message,
            context: [
                ("topicID", JSONValue(topic.id)), ("objectScope", topic.scope.json(app: app)),
                ("subject", JSONValue(holder.text)),
            ]
        )
    }
}
