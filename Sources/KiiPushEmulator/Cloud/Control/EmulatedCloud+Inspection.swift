import KiiPushCore

extension Route {
    /// What the emulator holds, below `/__kii`: for its administrator alone, and without any secret.
    static let inspection: [Route] = [
        Route("GET", "principals", need: .administrator) { (cloud, _) throws(KiiFailure) in cloud.showPrincipals() },
        Route("GET", "installations", need: .administrator) { (cloud, _) throws(KiiFailure) in
            cloud.showInstallations()
        },
        Route("GET", "topics", need: .administrator) { (cloud, _) throws(KiiFailure) in cloud.showTopics() },
        Route("GET", "subscriptions", need: .administrator) { (cloud, _) throws(KiiFailure) in
            cloud.showSubscriptions()
        },
        Route("GET", "buckets", need: .administrator) { (cloud, _) throws(KiiFailure) in cloud.showBuckets() },
        Route("GET", "messages", need: .administrator, query: ["after", "limit"]) { (cloud, call) throws(KiiFailure) in
            try cloud.showMessages(call)
        },
        Route("GET", "messages/{id}", need: .administrator) { (cloud, call) throws(KiiFailure) in
            try cloud.showMessage(call)
        },
    ]
}

/// Looking at the state. Lists are whole, in the order of IDs or paths.
extension EmulatedCloud {
    func showPrincipals() -> HTTPResponse {
        let users = self.state.users.values.sorted { $0.id < $1.id }.map { user -> JSONValue in
            let known = ["loginName", "displayName", "emailAddress", "phoneNumber"].map { name in
                (name, user.attributes[name] ?? .null)
            }
            let own: [(String, JSONValue)] = [("userID", JSONValue(user.id))]
            return .compact(own + known + [("disabled", JSONValue(user.isDisabled))])
        }
        let things = self.state.things.values.sorted { $0.id < $1.id }.map { thing -> JSONValue in
            .object([
                ("thingID", JSONValue(thing.id)), ("vendorThingID", JSONValue(thing.vendorThingID)),
                ("owners", JSONValue(thing.owners.sorted().map { JSONValue($0) })),
                ("disabled", JSONValue(thing.isDisabled)),
            ])
        }
        let groups = self.state.groups.values.sorted { $0.id < $1.id }.map { group -> JSONValue in
            .object([
                ("groupID", JSONValue(group.id)), ("name", JSONValue(group.name)), ("owner", JSONValue(group.owner)),
                ("members", JSONValue(group.members.sorted().map { JSONValue($0) })),
            ])
        }
        return .json(
            200,
            nil,
            .object([("users", JSONValue(users)), ("things", JSONValue(things)), ("groups", JSONValue(groups))])
        )
    }

    /// With each MQTT installation whether it is online: `null` when that is not known.
    func showInstallations() -> HTTPResponse {
        let connected = self.presence()
        let installations = self.state.installations.values.sorted { $0.id < $1.id }.map { record -> JSONValue in
            var members = (record.description.members ?? []).map { ($0.key, $0.value) }
            members.append(("createdAt", JSONValue(record.createdAt.millisecondsSinceEpoch)))
            guard let credential = record.credential, let topic = record.mqttTopic else { return .object(members) }
            members.append(("mqttTopic", JSONValue(topic)))
            members.append(("payload", JSONValue(record.payload.rawValue)))
            members.append(("endpointExpiresAt", JSONValue.optional(record.endpointExpiresAt)))
            let isOnline = connected.map { JSONValue($0.contains(credential.username)) }
            members.append(("online", isOnline ?? JSONValue.null))
            return .object(members)
        }
        return .json(200, nil, .object([("installations", JSONValue(installations))]))
    }

    func showTopics() -> HTTPResponse {
        let topics = self.state.topics.values.sorted { $0.key < $1.key }.map { record -> JSONValue in
            .object([
                ("topicID", JSONValue(record.topic.id)), ("objectScope", record.topic.scope.json(app: self.appID)),
                ("creator", JSONValue(record.creator.text)), ("acl", record.rights.description),
                ("subscribers", JSONValue(self.state.subscribers(of: .topic(record.topic)).count)),
            ])
        }
        return .json(200, nil, .object([("topics", JSONValue(topics))]))
    }

    func showSubscriptions() -> HTTPResponse {
        let subscriptions = self.state.subscriptions().map { record -> JSONValue in
            .object([
                record.target.name, ("objectScope", record.target.scope.json(app: self.appID)),
                record.subscriber.field,
            ])
        }
        return .json(200, nil, .object([("subscriptions", JSONValue(subscriptions))]))
    }

    func showBuckets() -> HTTPResponse {
        let buckets = self.state.buckets.values.sorted { $0.key < $1.key }.map { record -> JSONValue in
            .object([
                ("bucketID", JSONValue(record.bucket.id)), ("objectScope", record.bucket.scope.json(app: self.appID)),
                ("creator", .optional(record.creator?.text)),
                ("objects", JSONValue(self.state.objectCount(in: record.bucket))),
                ("subscribers", JSONValue(self.state.subscribers(of: .bucket(record.bucket)).count)),
            ])
        }
        return .json(200, nil, .object([("buckets", JSONValue(buckets))]))
    }
}

extension Principal {
    /// `userID` or `thingID`.
    fileprivate var field: (String, JSONValue) {
        switch self {
        case .user(let id): ("userID", JSONValue(id))
        case .thing(let id): ("thingID", JSONValue(id))
        }
    }
}

extension JSONValue {
    fileprivate static func optional(_ time: Timestamp?) -> JSONValue {
        guard let time else { return .null }
        return JSONValue(time.millisecondsSinceEpoch)
    }
}
