import KiiPushCore

/// A topic that exists.
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

    /// - Parameter rights: `nil` for those of a topic that was just created.
    init(topic: Topic, creator: Caller, rights: TopicRights? = nil) {
        self.topic = topic
        self.creator = creator
        self.rights = rights ?? TopicRights(of: topic.scope)
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }), let id = json["id"]?.string,
            let creator = json["creator"]?.string.flatMap({ Caller(text: $0) })
        else { return nil }
        // A state from before there were rights: what topics came with.
        var rights: TopicRights?
        if let stored = json["rights"] {
            rights = TopicRights(json: stored)
            guard rights != nil else { return nil }
        }
        self.init(topic: Topic(id, in: scope), creator: creator, rights: rights)
    }
}
