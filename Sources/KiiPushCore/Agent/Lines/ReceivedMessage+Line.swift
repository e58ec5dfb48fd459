extension ReceivedMessage {
    /// Writes the members of the line that gives a message to a handler in another process.
    package func describe(_ context: DeliveryContext, in line: inout JSONObjectWriter) {
        line.add("id", context.messageID)
        line.add("attempt", Int64(context.attempt))
        line.add("installation", context.installationID)
        line.add("received_at", context.receivedAt.description)
        line.add("kind", self.kind.name)
        line.add("bytes", Int64(self.payloadBytes.count))
        line.add("fields") { fields in
            for field in MessageField.allCases {
                if let value = self.value(of: field) { fields.add(field.key(in: .long), value) }
            }
        }
        line.add(self.sourceMembers)
        if let when = self.when { line.add("when", when.description) }
        if let modifiedAt = self.modifiedAt { line.add("modifiedAt", modifiedAt.description) }
        if self.content != nil, let aps = self.rawPayload["aps"] { line.add("aps", aps) }
        line.add("custom", JSONValue(members: self.customMembers))
        let findings = self.findings
        if !findings.isEmpty { line.add("findings", JSONValue(findings.map(\.json))) }
        line.add("payload", self.rawPayload)
    }

    package var sourceMembers: JSONMembers {
        var members: JSONMembers = []
        if let sender { members.append(("sender", sender.json)) }
        if let sourceTopic { members.append(("topic", .object(SubscriptionTarget.topic(sourceTopic).json))) }
        if let sourceBucket { members.append(("bucket", .object(SubscriptionTarget.bucket(sourceBucket).json))) }
        if let sourceObject { members.append(("object", sourceObject.id.json)) }
        return members
    }
}

extension PayloadFinding {
    fileprivate var json: JSONValue {
        ["pointer": self.pointer.description.json, "expected": self.expected.json, "found": "\(self.found)".json]
    }
}

extension MessageSender {
    fileprivate var json: JSONValue {
        switch self {
        case .user(let id): ["kind": "user", "id": JSONValue(id)]
        case .thing(let id): ["kind": "thing", "id": JSONValue(id)]
        case .admin: ["kind": "admin"]
        case .other(let address): ["kind": "other", "id": JSONValue(address)]
        }
    }
}

extension ReceivedMessage.Kind {
    /// Programs rely on these names.
    package var name: String {
        switch self {
        case .pushToApp: "pushToApp"
        case .pushToUser: "pushToUser"
        case .directPush: "directPush"
        }
    }
}

extension SubscriptionTarget {
    package var json: JSONMembers {
        switch self {
        case .topic(let topic):
            [("kind", "topic"), ("name", JSONValue(topic.id)), ("scope", JSONValue(topic.scope.text))]
        case .bucket(let bucket):
            [("kind", "bucket"), ("name", JSONValue(bucket.id)), ("scope", JSONValue(bucket.scope.text))]
        }
    }
}

extension Scope {
    package var text: String {
        switch self {
        case .app: "app"
        case .user(let id): "user:\(id)"
        case .group(let id): "group:\(id)"
        case .thing(let id): "thing:\(id)"
        }
    }

    /// A name with its scope, such as `user:ID/name`, or the bare name in the app's scope.
    package func text(of name: String) -> String { self == .app ? name : "\(self.text)/\(name)" }
}
