import KiiPushCore

extension Route {
    static let topics: [Route] =
        Route.inEveryScope(
            [
                Route("PUT", "topics/{topic}", EmulatedCloud.createTopic),
                Route("GET", "topics/{topic}", EmulatedCloud.checkTopic),
                Route("DELETE", "topics/{topic}", EmulatedCloud.deleteTopic),
                Route("GET", "topics", EmulatedCloud.listTopics),
                Route("POST", "topics/{topic}/push/messages", EmulatedCloud.sendToTopic),
            ] + Route.topicRights + Route.subscriptions(below: "topics/{topic}"))
        + [Route("POST", "users/{user}/push/messages", EmulatedCloud.sendToUser)]
}

extension EmulatedCloud {
    /// The page size of Kii's cloud is not documented.
    private static let pageSize = 50

    /// Throws if the ID is invalid or the owner of the topic's scope does not exist. The topic itself may be missing.
    func topic(_ call: CloudCall) throws(KiiFailure) -> Topic {
        let topic = Topic(call["topic"], in: try self.scope(call))
        guard Topic.isValidID(topic.id) else { throw .invalidInput("A topic ID has to be 1 to 64 of A-Z a-z 0-9 _ -") }
        return topic
    }

    func existingTopic(_ call: CloudCall) throws(KiiFailure) -> TopicRecord {
        let topic = try self.topic(call)
        guard let record = self.state.topics[topic.path] else {
            throw KiiFailure(404, "TOPIC_NOT_FOUND", "The topic was not found.")
                .about(SubscriptionTarget.topic(topic).fields(app: self.appID))
        }
        return record
    }

    func createTopic(_ call: CloudCall) throws(KiiFailure) {
        let topic = try self.topic(call)
        let mayCreate = topic.scope == .app ? call.caller == .admin : self.belongs(call.caller, to: topic.scope)
        try self.require(mayCreate, call, "No right to create topics here.")
        guard self.state.topics[topic.path] == nil else {
            throw KiiFailure(409, "TOPIC_ALREADY_EXISTS", "The topic exists already.")
                .about(SubscriptionTarget.topic(topic).fields(app: self.appID))
        }
        let rights = TopicRights(of: topic.scope, creator: call.caller)
        self.state.save(TopicRecord(topic: topic, creator: call.caller, rights: rights))
    }

    func deleteTopic(_ call: CloudCall) throws(KiiFailure) { self.state.remove(try self.managedTopic(call)) }

    func checkTopic(_ call: CloudCall) throws(KiiFailure) {
        let record = try self.existingTopic(call)
        let mayUse = TopicRights.Verb.allCases.contains { self.may(call.caller, $0, record) }
        let mayLook = self.belongs(call.caller, to: record.topic.scope) || mayUse
        try self.require(mayLook, call, "No right to look at this topic.")
    }

    /// Lists the topics that the caller may subscribe to or manage. A caller outside the scope without such a topic is
    /// refused.
    func listTopics(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let scope = try self.scope(call)
        let visible = self.state.topics(in: scope).filter {
            self.may(call.caller, .subscribe, $0) || self.mayManage(call.caller, $0)
        }
        let mayList = !visible.isEmpty || self.belongs(call.caller, to: scope)
        try self.require(mayList, call, "No right to list topics here.")
        var topicIDs = visible.map { $0.topic.id }[...]
        // The key is the last ID of the previous page, so that the list may change between two pages.
        if let key = call.target.query["paginationKey"] { topicIDs = topicIDs.drop { $0 <= key } }
        let page = topicIDs.prefix(EmulatedCloud.pageSize)
        let answer = JSONValue.object(present: [
            "topics": JSONValue(page.map { ["topicID": JSONValue($0)] }),
            "paginationKey": page.count == topicIDs.count ? String?.none : page.last,
        ])
        return .json(200, "TopicsRetrievalResponse", answer)
    }
}
