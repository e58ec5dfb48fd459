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
        let event: [Field] = [
            ("type", JSONValue(push.event.rawValue)), ("origin", "EVENT"), ("when", JSONValue(self.now)),
            ("modifiedAt", .optional(push.modifiedAt)), ("appID", JSONValue(self.appID)),
            ("sender", .optional(sender.principal?.id)),
        ]
        let place: [Field] = [
            ("bucketID", JSONValue(push.bucket.id)), ("bucketType", "rw"), ("objectID", .optional(push.objectID)),
        ]
        return (event + self.scopeFields(push.bucket.scope) + place).filter { !$0.1.isNull }
    }

    /// What the networks other than MQTT are told: no URIs, and `sender` also in a direct push.
    private func fields(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [Field] {
        self.senderField(of: send, sender) + self.topicFields(of: send, recipient) + self.requestedFields(of: send)
    }

    /// A push to user has `sender` and `senderURI`, a direct push `senderURI` alone.
    private func mqttFields(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [Field] {
        let source: [Field] = [("sourceURI", JSONValue("kiicloud://\(recipient.sourcePath)"))]
        let senderURI: [Field] = send.has(.sendSender) ? [("senderURI", self.uri(of: sender))] : []
        let origin: [Field] =
            switch recipient {
            case .topic: self.senderField(of: send, sender) + senderURI + source
            case .user: source + senderURI
            }
        return origin + self.topicFields(of: send, recipient) + self.requestedFields(of: send)
    }

    private func senderField(of send: SendRequest, _ sender: Caller) -> [Field] {
        guard send.has(.sendSender), let principal = sender.principal else { return [] }
        return [("sender", JSONValue(principal.id))]
    }

    private func topicFields(of send: SendRequest, _ recipient: Recipient) -> [Field] {
        guard case .topic(let topic) = recipient else { return [] }
        let topicID: [Field] = send.has(.sendTopicID) ? [("topic", JSONValue(topic.id))] : []
        return topicID + (send.has(.sendObjectScope) ? self.scopeFields(topic.scope) : [])
    }

    private func scopeFields(_ scope: Scope) -> [Field] {
        [("objectScopeAppID", JSONValue(self.appID)), ("objectScopeType", JSONValue(scope.typeName))]
            + (scope.messageField.map { [$0] } ?? [])
    }

    /// What is sent only if the sender asks for it.
    private func requestedFields(of send: SendRequest) -> [Field] {
        var fields: [Field] = []
        if send.has(.sendWhen) { fields.append(("when", JSONValue(self.now))) }
        if send.has(.sendOrigin) { fields.append(("origin", "EXPLICIT")) }
        if send.has(.sendAppID) { fields.append(("appID", JSONValue(self.appID))) }
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
