import KiiPushCore

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
