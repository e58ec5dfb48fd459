import KiiPushCore

extension Route {
    /// Subscribe, check and unsubscribe below a topic or a bucket's filter.
    static func subscriptions(below target: String) -> [Route] {
        let base = "\(target)/push/subscriptions"
        let named = ["users/{subscribingUser}", "things/{subscribingThing}"].flatMap { subscriber in
            [
                Route("PUT", "\(base)/\(subscriber)") { cloud, call throws(KiiFailure) in try cloud.subscribe(call) },
                Route("GET", "\(base)/\(subscriber)") { cloud, call throws(KiiFailure) in
                    try cloud.checkSubscription(call)
                },
                Route("DELETE", "\(base)/\(subscriber)") { cloud, call throws(KiiFailure) in
                    try cloud.unsubscribe(call)
                },
            ]
        }
        // Oneself: POST in the reference, PUT in the bucket guide.
        let oneself = ["POST", "PUT"].flatMap { method in
            [
                Route(method, "\(base)/users") { cloud, call throws(KiiFailure) in
                    try cloud.subscribeSelf(call, asThing: false)
                },
                Route(method, "\(base)/things") { cloud, call throws(KiiFailure) in
                    try cloud.subscribeSelf(call, asThing: true)
                },
            ]
        }
        return named + oneself
    }
}

extension EmulatedCloud {
    mutating func subscribe(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        try self.subscribe(try self.subscriber(call), call)
    }

    mutating func subscribeSelf(_ call: CloudCall, asThing: Bool) throws(KiiFailure) -> HTTPResponse {
        switch (call.caller, asThing) {
        case (.user(let id), false): return try self.subscribe(.user(id), call)
        case (.thing(let id), true): return try self.subscribe(.thing(id), call)
        default:
            let kind = asThing ? "thing" : "user"
            throw .unauthorized("Without an ID this needs a \(kind)'s token.", app: self.appID, caller: call.caller)
        }
    }

    private mutating func subscribe(_ subscriber: Principal, _ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let target = try self.target(call, creatingBucket: true)
        let mayAct = self.mayAct(call.caller, for: subscriber)
        let hasRight = call.caller == .admin || self.maySubscribe(Caller(subscriber), to: target)
        try self.require(mayAct && hasRight, call, "No right to subscribe here.")
        let record = SubscriptionRecord(target: target, subscriber: subscriber)
        guard !self.state.isSubscribed(subscriber, to: target) else {
            throw .subscriptionExists(record, app: self.appID)
        }
        // The reference: subscribing to a bucket that is not there creates it.
        if case .bucket(let bucket) = target { self.ensure(bucket, call) }
        self.state.save(record)
        return .noContent
    }

    /// A topic says who may; a bucket is open to all who belong to its scope.
    private func maySubscribe(_ subscriber: Caller, to target: SubscriptionTarget) -> Bool {
        switch target {
        case .topic(let topic): self.state.topics[topic.path].map { self.may(subscriber, .subscribe, $0) } ?? false
        case .bucket(let bucket): self.belongs(subscriber, to: bucket.scope)
        }
    }

    mutating func checkSubscription(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        _ = try self.existingSubscription(call)
        return .noContent
    }

    mutating func unsubscribe(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        self.state.remove(try self.existingSubscription(call))
        return .noContent
    }

    private func existingSubscription(_ call: CloudCall) throws(KiiFailure) -> SubscriptionRecord {
        let subscriber = try self.subscriber(call)
        let target = try self.target(call, creatingBucket: false)
        try self.require(self.mayAct(call.caller, for: subscriber), call, "Only the subscriber may do this.")
        guard self.state.isSubscribed(subscriber, to: target) else { throw .subscriptionNotFound }
        return SubscriptionRecord(target: target, subscriber: subscriber)
    }

    private func subscriber(_ call: CloudCall) throws(KiiFailure) -> Principal {
        if call.parameters["subscribingUser"] == "me", case .user(let id) = call.caller { return .user(id) }
        return try self.principal(
            userID: call.parameters["subscribingUser"], thingID: call.parameters["subscribingThing"])
    }

    private func target(_ call: CloudCall, creatingBucket: Bool) throws(KiiFailure) -> SubscriptionTarget {
        guard call.parameters["bucket"] != nil else { return .topic(try self.existingTopic(call).topic) }
        let bucket = try self.bucket(call)
        guard call["filter"] == "all", creatingBucket || self.state.buckets[bucket.path] != nil else {
            throw .filterNotFound
        }
        return .bucket(bucket)
    }
}
