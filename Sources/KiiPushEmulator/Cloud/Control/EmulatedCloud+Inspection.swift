import KiiPushCore

extension Route {
    /// What the emulator holds, below `/__kii`: for its administrator alone, and without any secret.
    static let inspection: [Route] = [
        .control("GET", "principals") { cloud, _ in cloud.showPrincipals() },
        .control("GET", "installations") { cloud, _ in cloud.showInstallations() },
        .control("GET", "topics") { cloud, _ in cloud.showTopics() },
        .control("GET", "subscriptions") { cloud, _ in cloud.showSubscriptions() },
        .control("GET", "buckets") { cloud, _ in cloud.showBuckets() },
        .control("GET", "messages", query: ["after", "limit"]) { cloud, call throws(KiiFailure) in
            try cloud.showMessages(call)
        },
        .control("GET", "messages/{id}") { cloud, call throws(KiiFailure) in try cloud.showMessage(call) },
    ]
}

/// Looking at the state. Lists are whole, in the order of IDs or paths.
extension EmulatedCloud {
    func showPrincipals() -> HTTPResponse {
        let users = self.state.users.values.sorted { $0.id < $1.id }.map { user -> JSONValue in
            let names = ["loginName", "displayName", "emailAddress", "phoneNumber"]
            return .compact(
                [("userID", JSONValue(user.id))] + names.map { ($0, user.attributes[$0] ?? .null) }
                    + [("disabled", JSONValue(user.isDisabled))])
        }
        let things = self.state.things.values.sorted { $0.id < $1.id }.map { thing -> JSONValue in
            [
                "thingID": JSONValue(thing.id), "vendorThingID": JSONValue(thing.vendorThingID),
                "owners": JSONValue(texts: thing.owners.sorted()), "disabled": JSONValue(thing.isDisabled),
            ]
        }
        let groups = self.state.groups.values.sorted { $0.id < $1.id }.map { group -> JSONValue in
            [
                "groupID": JSONValue(group.id), "name": JSONValue(group.name), "owner": JSONValue(group.owner),
                "members": JSONValue(texts: group.members.sorted()),
            ]
        }
        let answer: JSONValue = ["users": JSONValue(users), "things": JSONValue(things), "groups": JSONValue(groups)]
        return .json(200, nil, answer)
    }

    /// With each MQTT installation whether it is online: `null` when that is not known.
    func showInstallations() -> HTTPResponse {
        let connected = self.presence()
        let installations = self.state.installations.values.sorted { $0.id < $1.id }.map { record -> JSONValue in
            let members = record.description.fields + [("createdAt", JSONValue(record.createdAt))]
            guard let credential = record.credential, let topic = record.mqttTopic else { return .object(members) }
            let isOnline = connected.map { JSONValue($0.contains(credential.username)) }
            let own: [(String, JSONValue)] = [
                ("mqttTopic", JSONValue(topic)), ("payload", JSONValue(record.payload.rawValue)),
                ("endpointExpiresAt", .optional(record.endpointExpiresAt)), ("online", isOnline ?? .null),
            ]
            return .object(members + own)
        }
        return .json(200, nil, ["installations": JSONValue(installations)])
    }

    func showTopics() -> HTTPResponse {
        let topics = self.state.topics.values.sorted { $0.key < $1.key }.map { record -> JSONValue in
            let own: [(String, JSONValue)] = [
                ("creator", JSONValue(record.creator.text)), ("acl", record.rights.description),
                ("subscribers", JSONValue(self.state.subscribers(of: .topic(record.topic)).count)),
            ]
            return .object(SubscriptionTarget.topic(record.topic).fields(app: self.appID) + own)
        }
        return .json(200, nil, ["topics": JSONValue(topics)])
    }

    func showSubscriptions() -> HTTPResponse {
        let subscriptions = self.state.subscriptions().map { record in
            JSONValue.object(record.target.fields(app: self.appID) + [record.subscriber.field])
        }
        return .json(200, nil, ["subscriptions": JSONValue(subscriptions)])
    }

    func showBuckets() -> HTTPResponse {
        let buckets = self.state.buckets.values.sorted { $0.key < $1.key }.map { record -> JSONValue in
            let own: [(String, JSONValue)] = [
                ("creator", .optional(record.creator?.text)),
                ("objects", JSONValue(self.state.objectCount(in: record.bucket))),
                ("subscribers", JSONValue(self.state.subscribers(of: .bucket(record.bucket)).count)),
            ]
            return .object(SubscriptionTarget.bucket(record.bucket).fields(app: self.appID) + own)
        }
        return .json(200, nil, ["buckets": JSONValue(buckets)])
    }
}
