import KiiPushCore

extension ReceivedMessage {
    func describe(in line: inout JSONObjectWriter) {
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

    var sourceMembers: JSONMembers {
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
    var json: JSONValue {
        switch self {
        case .user(let id): ["kind": "user", "id": JSONValue(id)]
        case .thing(let id): ["kind": "thing", "id": JSONValue(id)]
        case .admin: ["kind": "admin"]
        case .other(let address): ["kind": "other", "id": JSONValue(address)]
        }
    }
}
