import KiiPushCore

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
