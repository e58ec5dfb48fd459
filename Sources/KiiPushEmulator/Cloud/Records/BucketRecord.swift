import KiiPushCore

/// A bucket that exists: somebody put an object into it or subscribed to it.
struct BucketRecord: StoredRecord {
    static let table = "bucket"

    var bucket: Bucket
    /// Who made it; `nil` for one of a state that did not say.
    var creator: Caller?

    var key: String { self.bucket.path }

    var json: JSONValue {
        .compact([
            ("scope", JSONValue(self.bucket.scope.pathPrefix)), ("id", JSONValue(self.bucket.id)),
            ("creator", .optional(self.creator?.text)),
        ])
    }
}

extension BucketRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let id = json["id"]?.string else { return nil }
        self.init(bucket: Bucket(id, in: scope), creator: json.caller("creator"))
    }
}
