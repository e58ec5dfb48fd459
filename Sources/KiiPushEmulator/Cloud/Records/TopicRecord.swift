import KiiPushCore

/// A topic that exists.
struct TopicRecord: StoredRecord {
    static let table = "topic"

    var topic: Topic
    var creator: Caller

    var key: String { self.topic.path }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.topic.scope.pathPrefix)), ("id", JSONValue(self.topic.id)),
            ("creator", JSONValue(self.creator.text)),
        ])
    }

    init(topic: Topic, creator: Caller) {
        self.topic = topic
        self.creator = creator
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }), let id = json["id"]?.string,
            let creator = json["creator"]?.string.flatMap({ Caller(text: $0) })
        else { return nil }
        self.init(topic: Topic(id, in: scope), creator: creator)
    }
}

/// A bucket that exists: somebody put an object into it or subscribed to it.
struct BucketRecord: StoredRecord {
    static let table = "bucket"

    var bucket: Bucket

    var key: String { self.bucket.path }

    var json: JSONValue {
        .object([("scope", JSONValue(self.bucket.scope.pathPrefix)), ("id", JSONValue(self.bucket.id))])
    }

    init(bucket: Bucket) {
        self.bucket = bucket
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }), let id = json["id"]?.string
        else { return nil }
        self.init(bucket: Bucket(id, in: scope))
    }
}

/// Who is subscribed to what.
struct SubscriptionRecord: StoredRecord {
    static let table = "subscription"

    var target: SubscriptionTarget
    var subscriber: Principal

    var key: String { "\(self.target.path) \(self.subscriber.text)" }

    var json: JSONValue {
        let (kind, id) =
            switch self.target {
            case .topic(let topic): ("topic", topic.id)
            case .bucket(let bucket): ("bucket", bucket.id)
            }
        return .object([
            ("scope", JSONValue(self.target.scope.pathPrefix)), (kind, JSONValue(id)),
            ("subscriber", JSONValue(self.subscriber.text)),
        ])
    }

    init(target: SubscriptionTarget, subscriber: Principal) {
        self.target = target
        self.subscriber = subscriber
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }),
            let subscriber = json["subscriber"]?.string.flatMap({ Principal(text: $0) })
        else { return nil }
        if let topic = json["topic"]?.string {
            self.init(target: .topic(Topic(topic, in: scope)), subscriber: subscriber)
        } else if let bucket = json["bucket"]?.string {
            self.init(target: .bucket(Bucket(bucket, in: scope)), subscriber: subscriber)
        } else {
            return nil
        }
    }
}

/// An object in a bucket.
struct ObjectRecord: StoredRecord {
    static let table = "object"

    var object: ObjectReference
    var creator: Caller
    var createdAt: Timestamp
    var modifiedAt: Timestamp
    var version: Int
    var data: JSONValue

    var key: String { ObjectRecord.key(self.object) }

    static func key(_ object: ObjectReference) -> String { "\(object.bucket.path)/objects/\(object.id)" }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.object.bucket.scope.pathPrefix)), ("bucket", JSONValue(self.object.bucket.id)),
            ("id", JSONValue(self.object.id)), ("creator", JSONValue(self.creator.text)),
            ("createdAt", JSONValue(self.createdAt.millisecondsSinceEpoch)),
            ("modifiedAt", JSONValue(self.modifiedAt.millisecondsSinceEpoch)), ("version", JSONValue(self.version)),
            ("data", self.data),
        ])
    }

    init(
        object: ObjectReference,
        creator: Caller,
        createdAt: Timestamp,
        modifiedAt: Timestamp,
        version: Int,
        data: JSONValue
    ) {
        self.object = object
        self.creator = creator
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.version = version
        self.data = data
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }),
            let bucket = json["bucket"]?.string, let id = json["id"]?.string,
            let creator = json["creator"]?.string.flatMap({ Caller(text: $0) }),
            let createdAt = json["createdAt"]?.int64, let modifiedAt = json["modifiedAt"]?.int64,
            let version = json["version"]?.int64, let data = json["data"]
        else { return nil }
        self.init(
            object: ObjectReference(id, in: Bucket(bucket, in: scope)),
            creator: creator,
            createdAt: Timestamp(millisecondsSinceEpoch: createdAt),
            modifiedAt: Timestamp(millisecondsSinceEpoch: modifiedAt),
            version: Int(version),
            data: data
        )
    }
}
