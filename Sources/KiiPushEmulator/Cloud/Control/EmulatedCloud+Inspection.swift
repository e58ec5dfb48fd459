import KiiPushCore

extension Route {
    /// Messages come in pages, oldest first. Each other list is complete and ordered by ID or path.
    static let inspection: [Route] = [
        .control("GET", "principals", EmulatedCloud.showPrincipals),
        .list("installations") { cloud in cloud.installationList() },
        .list("topics") { cloud in
            cloud.state.topics.byKey { record in
                cloud.fields(
                    of: .topic(record.topic), ["creator": record.creator.text, "acl": record.rights.answer])
            }
        },
        .list("subscriptions") { cloud in
            cloud.state.subscriptions.byKey { $0.target.fields(app: cloud.appID) + $0.subscriber.scope.fields }
        },
        .list("buckets") { cloud in
            // One pass for all buckets: the page may ask every second.
            let objects = Dictionary(grouping: cloud.state.objects.values) { $0.object.bucket }
            return cloud.state.buckets.byKey { record in
                cloud.fields(
                    of: .bucket(record.bucket),
                    ["creator": record.creator?.text, "objects": objects[record.bucket, default: []].count])
            }
        },
        .control("GET", "messages", query: ["after", "limit"], EmulatedCloud.showMessages),
        .control("GET", "messages/{id}", EmulatedCloud.showMessage),
    ]

    private static func list(_ name: String, _ elements: @escaping @Sendable (EmulatedCloud) -> JSONValue) -> Route {
        .control("GET", name) { cloud in { _ in .json(200, nil, .object([(name, elements(cloud))])) } }
    }
}

extension EmulatedCloud {
    fileprivate func fields(
        of target: SubscriptionTarget, _ own: KeyValuePairs<String, (any JSONConvertible)?>
    ) -> JSONMembers {
        let subscribers = ("subscribers", JSONValue(self.state.subscribers(of: target).count))
        return target.fields(app: self.appID) + JSONMembers(all: own) + [subscribers]
    }

    fileprivate func showPrincipals(_ call: CloudCall) -> HTTPResponse {
        let users = self.state.users.byKey { user in
            JSONMembers(present: [
                "userID": user.id, "loginName": user.attributes.present("loginName"),
                "displayName": user.attributes.present("displayName"),
                "emailAddress": user.attributes.present("emailAddress"),
                "phoneNumber": user.attributes.present("phoneNumber"), "disabled": user.isDisabled,
            ])
        }
        let things = self.state.things.byKey { thing in
            JSONMembers(all: [
                "thingID": thing.id, "vendorThingID": thing.vendorThingID, "owners": thing.owners(of: "user"),
                "disabled": thing.isDisabled,
            ])
        }
        let groups = self.state.groups.byKey { group in
            JSONMembers(all: [
                "groupID": group.id, "name": group.name, "owner": group.owner, "members": group.members.sorted(),
            ])
        }
        return .json(200, nil, ["users": users, "things": things, "groups": groups])
    }

    /// The online status of an MQTT installation is `null` if it is unknown.
    fileprivate func installationList() -> JSONValue {
        let statuses = self.presence()
        return self.state.installations.byKey { record in
            let members = record.description + [("createdAt", record.createdAt.json)]
            guard let credential = record.credential else { return members }
            let own = JSONMembers(all: [
                "mqttTopic": record.mqttTopic, "payload": record.payload.rawValue,
                "endpointExpiresAt": record.endpointExpiresAt?.json,
                "online": statuses.map { $0[credential.username]?.isOnline ?? false },
                "transport": statuses?[credential.username].flatMap { $0.isOnline ? $0.transport.rawValue : nil },
            ])
            return members + own
        }
    }
}

extension Dictionary where Key == String, Value: StoredRecord {
    fileprivate func byKey(_ members: (Value) -> JSONMembers) -> JSONValue {
        JSONValue(self.sorted { $0.key < $1.key }.map { .object(members($0.value)) })
    }
}
