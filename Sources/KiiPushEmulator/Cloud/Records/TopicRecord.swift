import KiiPushCore

struct TopicRecord: StoredRecord {
    static let table = "topic"

    var topic: Topic
    var creator: Caller
    var rights: TopicRights

    var key: String { self.topic.path }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.topic.scope.pathPrefix)), ("id", JSONValue(self.topic.id)),
            ("creator", JSONValue(self.creator.text)), ("rights", self.rights.json),
        ])
    }
}

extension TopicRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let id = json["id"]?.string, let creator = json.caller("creator"),
            // A state from before there were rights: what topics came with.
            let rights = json["rights"].map({ TopicRights(json: $0) }) ?? TopicRights(of: scope)
        else { return nil }
        self.init(topic: Topic(id, in: scope), creator: creator, rights: rights)
    }
}
