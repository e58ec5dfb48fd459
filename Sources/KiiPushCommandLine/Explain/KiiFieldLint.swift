import KiiPushCore

struct KiiFieldLint {
    private let message: ReceivedMessage
    private(set) var findings: [LintFinding] = []

    init(_ message: ReceivedMessage) {
        self.message = message
        for field in MessageField.allCases { self.checkValue(of: field) }
        self.checkAddresses()
        if let (field, problem) = self.otherKind ?? self.missingScope {
            self.report(.kindAmbiguous, at: self.pointer(field), problem)
        }
        for member in message.customMembers { self.checkCustom(member) }
    }

    private func pointer(_ field: MessageField) -> JSONPointer {
        JSONPointer(tokens: [field.key(in: self.message.keyFamily)])
    }

    /// Reports a value that Kii does not write: the key is then probably the sender's own.
    private mutating func checkValue(of field: MessageField) {
        guard let value = self.message[field.key(in: self.message.keyFamily)], !value.isNull else { return }
        let problem: String? =
            switch field {
            case .when where self.message.when == nil, .objectModifiedAt where self.message.modifiedAt == nil:
                "it is no whole number of milliseconds"
            case .when, .objectModifiedAt: nil
            case _ where value.kind != .string: "it is \(value.kind.phrase), and Kii writes a string"
            case .origin: if case .other? = self.message.origin { "Kii writes EVENT or EXPLICIT" } else { nil }
            case .scopeType where value.string != "" && self.message.reading(of: .scopeType) == nil:
                "Kii writes APP, APP_AND_USER, APP_AND_GROUP or APP_AND_THING"
            case .type where self.message.kind == .pushToApp:
                if case .other? = self.message.eventType {
                    "it is none of the events of a push to app that Kii documents"
                } else {
                    nil
                }
            default: nil
            }
        if let problem { self.report(.fieldValue, at: self.pointer(field), problem) }
    }

    private mutating func checkAddresses() {
        guard self.message.keyFamily == .long else { return }
        for (key, address) in [("senderURI", self.message.senderURI), ("sourceURI", self.message.sourceURI)] {
            guard let value = self.message[key], !value.isNull else { continue }
            switch address {
            case .other, nil:
                let problem = "it is no kiicloud:// address that Kii documents"
                self.report(.fieldValue, at: JSONPointer(tokens: [key]), problem)
            default: break
            }
        }
    }

    private func has(_ field: MessageField) -> Bool { self.message[field.key(in: self.message.keyFamily)] != nil }

    private var otherKind: (MessageField, String)? {
        switch self.message.kindReason {
        case .field(.topic), .noKey:
            guard self.message.keyFamily == .long, let field = [.objectID, .objectModifiedAt].first(where: self.has)
            else { return nil }
            return (field, "Kii's Android plugin takes it for a push to app, since this key is there")
        case .eventOrigin where !self.has(.objectID) && !self.has(.objectModifiedAt):
            return (.origin, "Kii's Android plugin, which does not look at origin, takes it for another kind")
        case .field, .eventOrigin:
            guard let field = self.message.kindReason.field else { return nil }
            if self.has(.topic) {
                let topic = self.pointer(.topic)
                return (field, "it makes a push to app of a payload that has \(topic) as well, and a topic sends none")
            }
            guard self.message.origin == .explicit else { return nil }
            return (field, "it makes a push to app of a payload whose origin is a sender (EXPLICIT)")
        }
    }

    /// Kii writes the scope beside the keys that decide the message's kind. Without a scope, a short key is probably a
    /// custom key.
    private var missingScope: (MessageField, String)? {
        guard self.message.keyFamily == .short, let field = self.message.kindReason.field, !self.has(.scopeType)
        else { return nil }
        let kind = self.message.kind == .pushToUser ? "push to user" : "push to app"
        let scope = self.pointer(.scopeType)
        return (field, "it makes a \(kind) of the payload, and \(scope) is missing, which Kii writes beside it")
    }

    private mutating func checkCustom(_ member: JSONMember) {
        let pointer = JSONPointer(tokens: [member.key])
        if let owner = self.message.field(ofOtherFamily: member.key) {
            let networks = self.message.keyFamily == .short ? "MQTT, GCM and FCM" : "APNs"
            self.report(
                .customKeyCollides, at: pointer,
                "it is Kii's own key for \(owner.key(in: .long)) on \(networks): it is taken for that there")
        }
        let aps = self.message.keyFamily == .short ? self.message.rawPayload["aps"] : nil
        if KeyMeaning.belongsIntoAPS(member.key, beside: aps) {
            self.report(.apsKeyOutside, at: pointer, "it belongs into aps; here nobody looks at it")
        }
        if member.key != "aps", member.value.kind == .array || member.value.kind == .object {
            self.report(.customNested, at: pointer, "it is \(member.value.kind.phrase)")
        }
    }

    private mutating func report(_ code: LintCode, at pointer: JSONPointer, _ message: String) {
        self.findings.append(LintFinding(code, at: pointer, message))
    }
}

extension ReceivedMessage {
    /// The field that has this key in the other family of keys.
    func field(ofOtherFamily key: String) -> MessageField? {
        let other: KeyFamily = self.keyFamily == .long ? .short : .long
        return MessageField.allCases.first { $0.key(in: other) == key }
    }
}
