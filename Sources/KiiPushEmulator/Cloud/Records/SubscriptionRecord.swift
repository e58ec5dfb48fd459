import KiiPushCore

struct SubscriptionRecord: StoredRecord {
    static let table = "subscription"

    var target: SubscriptionTarget
    var subscriber: Principal

    var key: String { "\(self.target.path) \(self.subscriber.text)" }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.target.scope.pathPrefix)), (self.target.name.kind, JSONValue(self.target.name.id)),
            ("subscriber", JSONValue(self.subscriber.text)),
        ])
    }
}

extension SubscriptionRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let subscriber = json.principal("subscriber") else { return nil }
        if let topic = json["topic"]?.string {
            self.init(target: .topic(Topic(topic, in: scope)), subscriber: subscriber)
        } else if let bucket = json["bucket"]?.string {
            self.init(target: .bucket(Bucket(bucket, in: scope)), subscriber: subscriber)
        } else {
            return nil
        }
    }
}
