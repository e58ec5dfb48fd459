import KiiPushCore

extension ReceivedMessage {
    /// The members that describe the message in a JSON line.
    var describingMembers: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("kind", JSONValue(self.kind.name)), ("bytes", JSONValue(self.payloadBytes.count)),
        ]
        let fields = MessageField.allCases.compactMap { field in
            self.value(of: field).map { (field.key(in: .long), JSONValue($0)) }
        }
        members.append(("fields", .object(fields)))
        if let sender = self.sender { members.append(("sender", sender.json)) }
        if let topic = self.sourceTopic { members.append(("topic", .object(SubscriptionTarget.topic(topic).json))) }
        if let bucket = self.sourceBucket {
            members.append(("bucket", .object(SubscriptionTarget.bucket(bucket).json)))
        }
        if let object = self.sourceObject { members.append(("object", JSONValue(object.id))) }
        if let when = self.when { members.append(("when", JSONValue(when.description))) }
        if let modifiedAt = self.modifiedAt { members.append(("modifiedAt", JSONValue(modifiedAt.description))) }
        if self.content != nil, let aps = self.rawPayload["aps"] { members.append(("aps", aps)) }
        members.append(("custom", .object(self.customMembers.map { ($0.key, $0.value) })))
        members.append(("payload", self.rawPayload))
        return members
    }
}

extension MessageSender {
    /// Kind and ID.
    var json: JSONValue {
        switch self {
        case .user(let id): ["kind": "user", "id": JSONValue(id)]
        case .thing(let id): ["kind": "thing", "id": JSONValue(id)]
        case .admin: ["kind": "admin"]
        case .other(let address): ["kind": "other", "id": JSONValue(address)]
        }
    }
}
