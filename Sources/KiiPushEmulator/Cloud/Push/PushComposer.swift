import KiiPushCore

/// Writes a message the way each network gets it (Kii's guides to receiving messages).
struct PushComposer {
    let appID: String
    let now: Timestamp

    /// A member of a message, under the long name that all networks but Apple's use.
    typealias Field = (String, JSONValue)

    /// Whom a send is for.
    enum Recipient {
        case topic(Topic)
        case user(String)

        var messageKind: LoggedMessage.Kind {
            switch self {
            case .topic: .pushToUser
            case .user: .directPush
            }
        }

        /// What the message is about, as a path below the app or `kiicloud://`.
        var sourcePath: String {
            switch self {
            case .topic(let topic): topic.path
            case .user(let id): "users/\(id)"
            }
        }
    }

    /// Push to app. It cannot be customised, and is for every network.
    func renderings(of push: PushToApp, sender: Caller) -> [PushRendering] {
        let fields = self.fields(of: push, sender: sender)
        let source: Field = ("sourceURI", JSONValue("kiicloud://\(push.sourcePath)"))
        return PushNetwork.allCases.map { network in
            switch network {
            case .mqtt: PushRendering(.mqtt, .object(fields + [source]))
            case .jpush: self.jpush(fields)
            // Android's documents name the collapse key: the bucket's ID.
            case .gcm, .fcm: self.google(network, fields, options: [("collapse_key", JSONValue(push.bucket.id))])
            case .apns: self.apple(fields.filter { !["appID", "sender", "origin"].contains($0.0) })
            }
        }
    }

    /// Push to user and direct push, for the networks that the sender has enabled.
    func renderings(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [PushRendering] {
        let fields = self.fields(of: send, to: recipient, sender: sender)
        return PushNetwork.allCases.filter { send.sections.isEnabled($0) }.map { network in
            let data = send.sections.data(of: network)
            switch network {
            case .mqtt:
                let own = self.mqttFields(of: send, to: recipient, sender: sender)
                return PushRendering(.mqtt, self.payload(data, own))
            case .jpush: return self.jpush(fields, data)
            case .gcm, .fcm: return self.google(network, fields, data, send.sections)
            case .apns: return self.apple(fields, data, send.sections)
            }
        }
    }

    // MARK: - The facts

    /// Has `sender` but no `senderURI`.
    private func fields(of push: PushToApp, sender: Caller) -> [Field] {
        var fields: [Field] = [
            ("type", JSONValue(push.event.rawValue)), ("origin", "EVENT"),
            ("when", JSONValue(self.now)),
        ]
        if let modifiedAt = push.modifiedAt { fields.append(("modifiedAt", JSONValue(modifiedAt))) }
        fields.append(("appID", JSONValue(self.appID)))
        if let principal = sender.principal { fields.append(("sender", JSONValue(principal.id))) }
        fields += self.scopeFields(push.bucket.scope)
        fields += [("bucketID", JSONValue(push.bucket.id)), ("bucketType", "rw")]
        if let objectID = push.objectID { fields.append(("objectID", JSONValue(objectID))) }
        return fields
    }

    /// What the networks other than MQTT are told: no URIs, and `sender` also in a direct push.
    private func fields(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [Field] {
        var fields: [Field] = []
        if send.sendSender, let principal = sender.principal { fields.append(("sender", JSONValue(principal.id))) }
        return fields + self.topicFields(of: send, recipient) + self.requestedFields(of: send)
    }

    /// A push to user has `sender` and `senderURI`, a direct push `senderURI` alone.
    private func mqttFields(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [Field] {
        let source: Field = ("sourceURI", JSONValue("kiicloud://\(recipient.sourcePath)"))
        let senderURI: Field = ("senderURI", self.uri(of: sender))
        var fields: [Field] = []
        switch recipient {
        case .topic:
            if send.sendSender {
                if let principal = sender.principal { fields.append(("sender", JSONValue(principal.id))) }
                fields.append(senderURI)
            }
            fields.append(source)
        case .user:
            fields.append(source)
            if send.sendSender { fields.append(senderURI) }
        }
        return fields + self.topicFields(of: send, recipient) + self.requestedFields(of: send)
    }

    private func topicFields(of send: SendRequest, _ recipient: Recipient) -> [Field] {
        guard case .topic(let topic) = recipient else { return [] }
        var fields: [Field] = []
        if send.sendTopicID { fields.append(("topic", JSONValue(topic.id))) }
        if send.sendObjectScope { fields += self.scopeFields(topic.scope) }
        return fields
    }

    private func scopeFields(_ scope: Scope) -> [Field] {
        var fields: [Field] = [
            ("objectScopeAppID", JSONValue(self.appID)), ("objectScopeType", JSONValue(scope.typeName)),
        ]
        if let owner = scope.messageField { fields.append(owner) }
        return fields
    }

    /// What is sent only if the sender asks for it.
    private func requestedFields(of send: SendRequest) -> [Field] {
        var fields: [Field] = []
        if send.sendWhen { fields.append(("when", JSONValue(self.now))) }
        if send.sendOrigin { fields.append(("origin", "EXPLICIT")) }
        if send.sendAppID { fields.append(("appID", JSONValue(self.appID))) }
        if let type = send.pushMessageType { fields.append(("type", JSONValue(type))) }
        return fields
    }

    private func uri(of sender: Caller) -> JSONValue {
        switch sender {
        case .user(let id): JSONValue("kiicloud://users/\(id)")
        case .thing(let id): JSONValue("kiicloud://things/\(id)")
        case .admin, .anonymous: "kiicloud://admins/APP_ADMIN"
        }
    }

    /// The custom keys first; where one has the name of a key that Kii writes, Kii's value stands.
    func payload(_ data: [JSONMember], _ fields: [Field]) -> JSONValue {
        let own = Set(fields.map { $0.0 })
        return .object(data.filter { !own.contains($0.key) }.map { ($0.key, $0.value) } + fields)
    }
}
