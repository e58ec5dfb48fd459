import KiiPushCore

/// The bytes that an object carries beside its data.
struct ObjectBodyRecord: StoredRecord {
    static let table = "body"

    var object: ObjectReference
    /// As it was uploaded with.
    var mediaType: String
    var bytes: [UInt8]
    /// Counts the uploads, from 1.
    var version: Int

    var key: String { ObjectRecord.key(self.object) }

    var json: JSONValue {
        .object([
            ("scope", JSONValue(self.object.bucket.scope.pathPrefix)), ("bucket", JSONValue(self.object.bucket.id)),
            ("id", JSONValue(self.object.id)), ("mediaType", JSONValue(self.mediaType)),
            ("bytes", JSONValue(Base64.encode(self.bytes))), ("version", JSONValue(self.version)),
        ])
    }

    init(object: ObjectReference, mediaType: String, bytes: [UInt8], version: Int) {
        self.object = object
        self.mediaType = mediaType
        self.bytes = bytes
        self.version = version
    }

    init?(json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Scope(prefix: $0) }),
            let bucket = json["bucket"]?.string, let id = json["id"]?.string,
            let mediaType = json["mediaType"]?.string,
            let bytes = json["bytes"]?.string.flatMap({ Base64.decode($0) }), let version = json["version"]?.int64
        else { return nil }
        self.init(
            object: ObjectReference(id, in: Bucket(bucket, in: scope)),
            mediaType: mediaType,
            bytes: bytes,
            version: Int(version)
        )
    }
}
