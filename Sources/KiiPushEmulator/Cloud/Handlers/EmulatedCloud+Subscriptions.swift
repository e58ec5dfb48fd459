import KiiPushCore

extension Route {
    static func subscriptions(below target: String) -> [Route] {
        let base = "\(target)/push/subscriptions"
        let named = ["users/{subscribingUser}", "things/{subscribingThing}"].map { "\(base)/\($0)" }.flatMap { one in
            [
                Route("PUT", one, EmulatedCloud.subscribe), Route("GET", one, EmulatedCloud.checkSubscription),
                Route("DELETE", one, EmulatedCloud.unsubscribe),
            ]
        }
        // Kii's REST reference uses POST, and Kii's guide on buckets uses PUT.
        let oneself = ["POST", "PUT"].flatMap { method in
            ["users", "things"].map { Route(method, "\(base)/\($0)", EmulatedCloud.subscribeSelf) }
        }
        return named + oneself
    }
}

extension EmulatedCloud {
    func subscribe(_ call: CloudCall) throws(KiiFailure) { try self.subscribe(self.subscriber(call), call) }

    func subscribeSelf(_ call: CloudCall) throws(KiiFailure) {
        let kind = call.target.path.last == "users" ? "user" : "thing"
        guard let caller = call.caller.principal, caller.kind == kind else {
            throw self.unauthorized("Without an ID this needs a \(kind)'s token.", call.caller)
        }
        try self.subscribe(caller, call)
    }

    private func subscribe(_ subscriber: Principal, _ call: CloudCall) throws(KiiFailure) {
        // By Kii's reference, subscribing to a missing bucket creates the bucket; by Kii's guide, the cloud refuses.
        let target = try self.target(call, creatingBucket: !self.settings.isStrict)
        let mayAct = self.mayAct(call.caller, for: subscriber)
        let hasRight = self.rightToSubscribe(to: target)(subscriber)
        try self.require(mayAct && (hasRight || call.caller == .admin), call, "No right to subscribe here.")
        guard self.state.subscription(of: subscriber, to: target) == nil else {
            throw KiiFailure(409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS", "The subscription exists already.")
                .about(target.fields(app: self.appID) + [("subject", JSONValue(subscriber.scope.subject))])
        }
        if target.kind == .bucket { self.ensure(Bucket(target.id, in: target.scope), call) }
        self.state.save(SubscriptionRecord(target: target, subscriber: subscriber, needsRight: hasRight))
    }

    /// A subscriber who has lost the right to subscribe, such as a former member of the group, gets no messages. Kii's
    /// pages do not describe this case.
    func recipients(of target: SubscriptionTarget) -> [Principal] {
        let hasRight = self.rightToSubscribe(to: target)
        return self.state.subscribers(of: target).filter { subscriber in
            hasRight(subscriber) || self.state.subscription(of: subscriber, to: target)?.needsRight == false
        }
    }

    /// A topic has its own rights. Everybody in a bucket's scope may subscribe to the bucket.
    private func rightToSubscribe(to target: SubscriptionTarget) -> (Principal) -> Bool {
        guard target.kind == .topic else { return { self.belongs(.principal($0), to: target.scope) } }
        guard let topic = self.state.topics[target.path] else { return { _ in false } }
        let right = self.right(to: .subscribe, topic)
        return { right(.principal($0)) }
    }

    /// A subscriber who has lost the right gets 401, but may still end the subscription.
    func checkSubscription(_ call: CloudCall) throws(KiiFailure) {
        let record = try self.existingSubscription(call)
        let isTold = !record.needsRight || self.rightToSubscribe(to: record.target)(record.subscriber)
        try self.require(isTold || call.caller == .admin, call, "No right to subscribe here.")
    }

    func unsubscribe(_ call: CloudCall) throws(KiiFailure) { self.state.remove(try self.existingSubscription(call)) }

    private func existingSubscription(_ call: CloudCall) throws(KiiFailure) -> SubscriptionRecord {
        let subscriber = try self.subscriber(call)
        let target = try self.target(call, creatingBucket: false)
        try self.require(self.mayAct(call.caller, for: subscriber), call, "Only the subscriber may do this.")
        guard let record = self.state.subscription(of: subscriber, to: target) else {
            throw KiiFailure(404, "PUSH_SUBSCRIPTION_NOT_FOUND", "The subscription was not found.")
        }
        return record
    }

    private func subscriber(_ call: CloudCall) throws(KiiFailure) -> Principal {
        if call.parameters["subscribingUser"] == "me", let id = call.caller.userID { return .user(id) }
        return try self.principal(
            userID: call.parameters["subscribingUser"], thingID: call.parameters["subscribingThing"])
    }

    private func target(_ call: CloudCall, creatingBucket: Bool) throws(KiiFailure) -> SubscriptionTarget {
        guard call.parameters["bucket"] != nil else { return .topic(try self.existingTopic(call).topic) }
        let bucket = try self.bucket(call)
        guard call["filter"] == "all", creatingBucket || self.state.buckets[bucket.path] != nil else {
            throw KiiFailure(404, "FILTER_NOT_FOUND", "The bucket or its filter was not found.")
        }
        return .bucket(bucket)
    }
}
