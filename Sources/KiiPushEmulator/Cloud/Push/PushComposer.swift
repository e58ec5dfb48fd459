import KiiPushCore

/// Writes a message in the format of each network (Kii's guides to receiving messages). The input has Kii's long
/// member names, which only Apple's format shortens.
struct PushComposer {
    let appID: String
    let now: Timestamp

    enum Recipient {
        case topic(Topic)
        case user(String)

        var messageKind: LoggedMessage.Kind { if case .topic = self { .pushToUser } else { .directPush } }

        var sourcePath: String {
            switch self {
            case .topic(let topic): topic.path
            case .user(let id): "users/\(id)"
            }
        }
    }

    func renderings(of push: PushToApp, sender: Caller) -> [PushRendering] {
        let fields = self.fields(of: push, sender: sender)
        return PushNetwork.allCases.map { network in
            switch network {
            case .mqtt: PushRendering(.mqtt, fields + [("sourceURI", JSONValue("kiicloud://\(push.sourcePath)"))])
            case .jpush: self.jpush(fields)
            // Kii's documents for Android use the bucket's ID as the collapse key.
            case .gcm, .fcm: self.google(network, fields, options: [("collapse_key", JSONValue(push.bucket.id))])
            case .apns: self.apple(fields.filter { !["appID", "sender", "origin"].contains($0.0) })
            }
        }
    }

    func renderings(of send: SendRequest, to recipient: Recipient, sender: Caller) -> [PushRendering] {
        let facts = self.facts(of: send, recipient)
        // On networks other than MQTT, messages have no URIs, and `sender` is also in a direct push.
        let fields = self.senderField(of: send, sender) + facts
        return PushNetwork.allCases.filter { send.sections.isEnabled($0) }.map { network in
            let data = send.sections.data(of: network)
            switch network {
            case .mqtt:
                let origin = self.mqttOrigin(of: send, to: recipient, sender: sender)
                return PushRendering(.mqtt, self.payload(data, origin + facts))
            case .jpush: return self.jpush(fields, data)
            case .gcm, .fcm: return self.google(network, fields, data, send.sections)
            case .apns: return self.apple(fields, data, send.sections)
            }
        }
    }

    // MARK: - The facts

    private func fields(of push: PushToApp, sender: Caller) -> JSONMembers {
        JSONMembers(present: [
            "type": push.event.rawValue, "origin": "EVENT", "when": self.now.json,
            "modifiedAt": push.modifiedAt?.json, "appID": self.appID, "sender": sender.principal?.id,
        ]) + self.scopeFields(push.bucket.scope)
            + JSONMembers(present: [
                "bucketID": push.bucket.id, "bucketType": push.bucket.type, "objectID": push.objectID,
            ])
    }

    /// The sender is in `sender` and `senderURI` of a push to user, but only in `senderURI` of a direct push.
    private func mqttOrigin(of send: SendRequest, to recipient: Recipient, sender: Caller) -> JSONMembers {
        let source = [("sourceURI", JSONValue("kiicloud://\(recipient.sourcePath)"))]
        let senderURI = send.has(.sendSender) ? [("senderURI", self.uri(of: sender))] : []
        switch recipient {
        case .topic: return self.senderField(of: send, sender) + senderURI + source
        case .user: return source + senderURI
        }
    }

    private func senderField(of send: SendRequest, _ sender: Caller) -> JSONMembers {
        send.has(.sendSender) ? JSONMembers(present: ["sender": sender.principal?.id]) : []
    }

    private func facts(of send: SendRequest, _ recipient: Recipient) -> JSONMembers {
        var fields: JSONMembers = []
        if case .topic(let topic) = recipient {
            if send.has(.sendTopicID) { fields.append(("topic", JSONValue(topic.id))) }
            if send.has(.sendObjectScope) { fields += self.scopeFields(topic.scope) }
        }
        if send.has(.sendWhen) { fields.append(("when", self.now.json)) }
        if send.has(.sendOrigin) { fields.append(("origin", "EXPLICIT")) }
        if send.has(.sendAppID) { fields.append(("appID", JSONValue(self.appID))) }
        if let type = send.pushMessageType { fields.append(("type", JSONValue(type))) }
        return fields
    }

    private func scopeFields(_ scope: Scope) -> JSONMembers {
        JSONMembers(all: ["objectScopeAppID": self.appID, "objectScopeType": scope.typeName])
            + (scope.messageField.map { [$0] } ?? [])
    }

    private func uri(of sender: Caller) -> JSONValue {
        JSONValue("kiicloud://\(sender.principal.map { "\($0.kind)s/\($0.id)" } ?? "admins/APP_ADMIN")")
    }

    /// Kii's own fields replace custom keys of the same name.
    func payload(_ data: JSONMembers, _ fields: JSONMembers) -> JSONMembers {
        let own = Set(fields.map { $0.0 })
        return data.filter { !own.contains($0.0) } + fields
    }
}
