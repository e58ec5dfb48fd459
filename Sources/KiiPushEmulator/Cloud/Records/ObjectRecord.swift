import KiiPushCore

struct BucketRecord: StoredRecord {
    static let table = "bucket"

    var bucket: Bucket
    /// `nil` if an earlier version of the emulator stored the bucket.
    var creator: Caller?

    var key: String { self.bucket.path }

    var json: JSONValue {
        .object(present: [
            "scope": self.bucket.scope.pathPrefix, "id": self.bucket.id, "creator": self.creator?.text,
        ])
    }
}

extension BucketRecord {
    init?(json: JSONValue) {
        guard let scope = json.scope, let id = json["id"]?.string else { return nil }
        self.init(bucket: Bucket(id, in: scope), creator: json.caller("creator"))
    }
}

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
        self.object.json(with: [
            "creator": self.creator.text, "createdAt": self.createdAt.json, "modifiedAt": self.modifiedAt.json,
            "version": self.version, "data": self.data,
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

extension ObjectRecord {
    var description: JSONMembers {
        let own = JSONMembers(present: [
            "_id": self.object.id, "_created": self.createdAt.json, "_modified": self.modifiedAt.json,
            "_version": "\(self.version)", "_owner": self.creator.principal?.id,
        ])
        return self.data.pairs.filter { !$0.1.isNull } + own
    }

    var moments: JSONMembers { [("createdAt", self.createdAt.json), ("modifiedAt", self.modifiedAt.json)] }
}

struct ObjectBodyRecord: StoredRecord {
    static let table = "body"

    var object: ObjectReference
    var mediaType: String
    var bytes: [UInt8]
    /// Counts the uploads, from 1.
    var version: Int

    var key: String { self.object.path }

    var json: JSONValue {
        self.object.json(with: [
            "mediaType": self.mediaType, "bytes": Base64.encode(self.bytes), "version": self.version,
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

    fileprivate func json(with members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        let name = JSONMembers(all: ["scope": self.bucket.scope.pathPrefix, "bucket": self.bucket.id, "id": self.id])
        return .object(name + JSONMembers(all: members))
    }

    fileprivate init?(json: JSONValue) {
        guard let scope = json.scope, let bucket = json["bucket"]?.string, let id = json["id"]?.string else {
            return nil
        }
        self.init(id, in: Bucket(bucket, in: scope))
    }
}
