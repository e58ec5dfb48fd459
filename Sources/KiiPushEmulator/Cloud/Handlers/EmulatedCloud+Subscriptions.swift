import KiiPushCore

extension Route {
    /// Subscribe, check and unsubscribe below a topic or a bucket's filter.
    static func subscriptions(below target: String) -> [Route] {
        let base = "\(target)/push/subscriptions"
        let named = ["users/{subscribingUser}", "things/{subscribingThing}"].map { "\(base)/\($0)" }.flatMap { one in
            [
                Route("PUT", one) { cloud, call throws(KiiFailure) in
                    try cloud.subscribe(cloud.subscriber(call), call)
                },
                Route("GET", one) { cloud, call throws(KiiFailure) in _ = try cloud.existingSubscription(call) },
                Route("DELETE", one) { cloud, call throws(KiiFailure) in
                    cloud.state.remove(try cloud.existingSubscription(call))
                },
            ]
        }
        // Oneself: POST in the reference, PUT in the bucket guide.
        let oneself = ["POST", "PUT"].flatMap { method in
            ["user", "thing"].map { kind in
                Route(method, "\(base)/\(kind)s") { cloud, call throws(KiiFailure) in
                    try cloud.subscribeSelf(call, as: kind)
                }
            }
        }
        return named + oneself
    }
}

extension EmulatedCloud {
    mutating func subscribeSelf(_ call: CloudCall, as kind: String) throws(KiiFailure) {
        guard let caller = call.caller.principal, caller.kind == kind else {
            throw self.unauthorized("Without an ID this needs a \(kind)'s token.", call.caller)
        }
        try self.subscribe(caller, call)
    }

    mutating func subscribe(_ subscriber: Principal, _ call: CloudCall) throws(KiiFailure) {
        let target = try self.target(call, creatingBucket: true)
        let mayAct = self.mayAct(call.caller, for: subscriber)
        let hasRight = call.caller == .admin || self.maySubscribe(.principal(subscriber), to: target)
        try self.require(mayAct && hasRight, call, "No right to subscribe here.")
        let record = SubscriptionRecord(target: target, subscriber: subscriber)
        guard !self.state.isSubscribed(subscriber, to: target) else {
            throw KiiFailure(409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS", "The subscription exists already.")
                .about(target.fields(app: self.appID) + [("subject", JSONValue(subscriber.subject))])
        }
        // The reference: subscribing to a bucket that is not there creates it.
        if target.kind == .bucket { self.ensure(Bucket(target.id, in: target.scope), call) }
        self.state.save(record)
    }

    /// A topic says who may; a bucket is open to all who belong to its scope.
    private func maySubscribe(_ subscriber: Caller, to target: SubscriptionTarget) -> Bool {
        switch target.kind {
        case .topic: self.state.topics[target.path].map { self.may(subscriber, .subscribe, $0) } ?? false
        case .bucket: self.belongs(subscriber, to: target.scope)
        }
    }

    func existingSubscription(_ call: CloudCall) throws(KiiFailure) -> SubscriptionRecord {
        let subscriber = try self.subscriber(call)
        let target = try self.target(call, creatingBucket: false)
        try self.require(self.mayAct(call.caller, for: subscriber), call, "Only the subscriber may do this.")
        guard self.state.isSubscribed(subscriber, to: target) else {
            throw KiiFailure(404, "PUSH_SUBSCRIPTION_NOT_FOUND", "The subscription was not found.")
        }
        return SubscriptionRecord(target: target, subscriber: subscriber)
    }

    func subscriber(_ call: CloudCall) throws(KiiFailure) -> Principal {
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
