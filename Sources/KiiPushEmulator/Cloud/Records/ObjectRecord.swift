import KiiPushCore

struct ObjectRecord: StoredRecord {
    static let table = "object"

    var object: ObjectReference
    var creator: Caller
    var createdAt: Timestamp
    var modifiedAt: Timestamp
    var version = 1
    var data: JSONValue

    var key: String { self.object.path }

    var json: JSONValue {
        .object(
            self.object.fields + [
                ("creator", JSONValue(self.creator.text)), ("createdAt", JSONValue(self.createdAt)),
                ("modifiedAt", JSONValue(self.modifiedAt)), ("version", JSONValue(self.version)), ("data", self.data),
            ])
    }
}

extension ObjectRecord {
    init?(json: JSONValue) {
        guard let object = ObjectReference(json: json), let creator = json.caller("creator"),
            let createdAt = json.time("createdAt"), let modifiedAt = json.time("modifiedAt"),
            let version = json["version"]?.int64, let data = json["data"]
        else { return nil }
        self.init(
            object: object, creator: creator, createdAt: createdAt, modifiedAt: modifiedAt, version: Int(version),
            data: data)
    }
}

struct ObjectBodyRecord: StoredRecord {
    static let table = "body"

    var object: ObjectReference
    /// As it was uploaded with.
    var mediaType: String
    var bytes: [UInt8]
    /// Counts the uploads, from 1.
    var version: Int

    var key: String { self.object.path }

    var json: JSONValue {
        .object(
            self.object.fields + [
                ("mediaType", JSONValue(self.mediaType)), ("bytes", JSONValue(Base64.encode(self.bytes))),
                ("version", JSONValue(self.version)),
            ])
    }
}

extension ObjectBodyRecord {
    init?(json: JSONValue) {
        guard let object = ObjectReference(json: json), let mediaType = json["mediaType"]?.string,
            let bytes = json["bytes"]?.string.flatMap({ Base64.decode($0) }), let version = json["version"]?.int64
        else { return nil }
        self.init(object: object, mediaType: mediaType, bytes: bytes, version: Int(version))
    }
}

extension ObjectReference {
    var path: String { "\(self.bucket.path)/objects/\(self.id)" }

    /// The members of a stored row that name it.
    fileprivate var fields: [(String, JSONValue)] {
        [
            ("scope", JSONValue(self.bucket.scope.pathPrefix)), ("bucket", JSONValue(self.bucket.id)),
            ("id", JSONValue(self.id)),
        ]
    }

    fileprivate init?(json: JSONValue) {
        guard let scope = json.scope, let bucket = json["bucket"]?.string, let id = json["id"]?.string else {
            return nil
        }
        self.init(id, in: Bucket(bucket, in: scope))
    }
}
