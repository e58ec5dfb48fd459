import KiiPushCore

struct TopicRecord: StoredRecord {
    static let table = "topic"

    var topic: Topic
    var creator: Caller
    var rights: TopicRights

    var key: String { self.topic.path }

    var json: JSONValue {
        .object(present: [
            "scope": self.topic.scope.pathPrefix, "id": self.topic.id, "creator": self.creator.text,
            "rights": self.rights.json,
        ])
    }
}

extension TopicRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let id = json["id"]?.string, let creator = json.caller("creator"),
            // Earlier versions of the emulator stored no rights. Such a topic gets the rights of a new topic.
            let rights = json["rights"].map({ TopicRights(json: $0) }) ?? TopicRights(of: scope, creator: creator)
        else { return nil }
        self.init(topic: Topic(id, in: scope), creator: creator, rights: rights)
    }
}

struct SubscriptionRecord: StoredRecord {
    static let table = "subscription"

    var target: SubscriptionTarget
    var subscriber: Principal
    /// Whether the subscriber gets messages only with the right to subscribe. `false` if the administrator subscribed
    /// a principal without the right, such as a thing in a group's scope.
    var needsRight = true

    var key: String { "\(self.target.path) \(self.subscriber.text)" }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.target.scope.pathPrefix)),
            (self.target.kind.rawValue, JSONValue(self.target.id)), ("subscriber", JSONValue(self.subscriber.text)),
            ("needsRight", JSONValue(self.needsRight)),
        ])
    }
}

extension SubscriptionRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let subscriber = json.principal("subscriber"),
            let kind = SubscriptionTarget.Kind.allCases.first(where: { json[$0.rawValue]?.string != nil }),
            let id = json[kind.rawValue]?.string
        else { return nil }
        self.init(
            target: SubscriptionTarget(kind: kind, scope: scope, id: id), subscriber: subscriber,
            needsRight: json["needsRight"]?.bool ?? true)
    }
}
