import KiiPushCore

/// What subscribers receive over MQTT, key by key (kii-protocol section 7.3).
struct PushComposer {
    let appID: String
    let now: Timestamp

    /// Push to app. Has `sender` but no `senderURI`.
    func pushToApp(_ push: PushToApp, sender: Caller) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("type", JSONValue(push.event.rawValue)), ("origin", "EVENT"),
            ("when", JSONValue(self.now.millisecondsSinceEpoch)),
        ]
        if let modifiedAt = push.modifiedAt {
            members.append(("modifiedAt", JSONValue(modifiedAt.millisecondsSinceEpoch)))
        }
        members.append(("appID", JSONValue(self.appID)))
        if let principal = sender.principal { members.append(("sender", JSONValue(principal.id))) }
        members += self.scopeFields(push.bucket.scope)
        members += [("bucketID", JSONValue(push.bucket.id)), ("bucketType", "rw")]
        if let objectID = push.objectID { members.append(("objectID", JSONValue(objectID))) }
        members.append(("sourceURI", JSONValue("kiicloud://\(push.sourcePath)")))
        return .object(members)
    }

    /// Push to user. The custom keys stand beside Kii's.
    func pushToUser(_ message: SendRequest, topic: Topic, sender: Caller) -> JSONValue {
        var members: [(String, JSONValue)] = []
        if message.sendSender {
            if let principal = sender.principal { members.append(("sender", JSONValue(principal.id))) }
            members.append(("senderURI", self.uri(of: sender)))
        }
        members.append(("sourceURI", JSONValue("kiicloud://\(topic.path)")))
        if message.sendTopicID { members.append(("topic", JSONValue(topic.id))) }
        if message.sendObjectScope { members += self.scopeFields(topic.scope) }
        return self.payload(message, members + self.requestedFields(message))
    }

    /// Direct push. Has `senderURI` but no `sender`, no scope and no topic.
    func directPush(_ message: SendRequest, recipient userID: String, sender: Caller) -> JSONValue {
        var members: [(String, JSONValue)] = [("sourceURI", JSONValue("kiicloud://users/\(userID)"))]
        if message.sendSender { members.append(("senderURI", self.uri(of: sender))) }
        return self.payload(message, members + self.requestedFields(message))
    }

    private func scopeFields(_ scope: Scope) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("objectScopeAppID", JSONValue(self.appID)), ("objectScopeType", JSONValue(scope.typeName)),
        ]
        if let owner = scope.ownerField(prefix: "objectScope") { members.append(owner) }
        return members
    }

    /// What is sent only if the sender asks for it.
    private func requestedFields(_ message: SendRequest) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if message.sendWhen { members.append(("when", JSONValue(self.now.millisecondsSinceEpoch))) }
        if message.sendOrigin { members.append(("origin", "EXPLICIT")) }
        if message.sendAppID { members.append(("appID", JSONValue(self.appID))) }
        if let type = message.pushMessageType { members.append(("type", JSONValue(type))) }
        return members
    }

    /// The custom keys first; where one has the name of a key that Kii writes, Kii's value stands.
    private func payload(_ message: SendRequest, _ members: [(String, JSONValue)]) -> JSONValue {
        let own = Set(members.map { $0.0 })
        let custom = message.mqttData.filter { !own.contains($0.key) }.map { ($0.key, $0.value) }
        return .object(custom + members)
    }

    private func uri(of sender: Caller) -> JSONValue {
        switch sender {
        case .user(let id): JSONValue("kiicloud://users/\(id)")
        case .thing(let id): JSONValue("kiicloud://things/\(id)")
        case .admin, .anonymous: "kiicloud://admins/APP_ADMIN"
        }
    }
}
