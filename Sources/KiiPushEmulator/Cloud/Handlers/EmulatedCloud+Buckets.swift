import KiiPushCore

/// Buckets: they come into being with their first object or subscription.
extension EmulatedCloud {
    /// Names that Kii keeps for itself.
    private static let reservedBuckets: Set<String> = ["devices", "users", "installations", "internal", "things"]

    /// The bucket of the path; its scope exists, itself it need not.
    func bucket(_ call: CloudCall) throws(KiiFailure) -> Bucket {
        let bucket = Bucket(call["bucket"], in: try self.scope(call))
        guard Names.isLegal(bucket.id, 2...64, extra: "-_"), !EmulatedCloud.reservedBuckets.contains(bucket.id) else {
            let reserved = EmulatedCloud.reservedBuckets.sorted().joined(separator: ", ")
            let message = "A bucket ID has to be 2 to 64 of A-Z a-z 0-9 - _ and none of \(reserved)"
            throw KiiFailure(400, "INVALID_BUCKET", message)
        }
        return bucket
    }

    /// The bucket of the path, if the caller may put objects into it.
    func writableBucket(_ call: CloudCall) throws(KiiFailure) -> Bucket {
        let bucket = try self.bucket(call)
        try self.require(self.belongs(call.caller, to: bucket.scope), call, "No right to use this bucket.")
        return bucket
    }

    /// Makes the bucket unless it is there.
    mutating func ensure(_ bucket: Bucket, _ call: CloudCall) {
        guard self.state.buckets[bucket.path] == nil else { return }
        self.state.save(BucketRecord(bucket: bucket, creator: call.caller))
    }

    /// Deletes the bucket with all that is in it. Who was subscribed is told that, not of each object, and is
    /// subscribed no more.
    mutating func deleteBucket(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let bucket = try self.writableBucket(call)
        guard let record = self.state.buckets[bucket.path] else { throw .bucketNotFound(bucket, app: self.appID) }
        let mayDrop = bucket.scope != .app || call.caller == .admin || call.caller == record.creator
        try self.require(mayDrop, call, "No right to delete this bucket.")
        self.announce(.bucketDeleted, of: bucket, call)
        self.state.remove(record)
        return .noContent
    }
}

extension KiiFailure {
    static func bucketNotFound(_ bucket: Bucket, app: String) -> KiiFailure {
        KiiFailure(404, "BUCKET_NOT_FOUND", "The bucket was not found.", bucket.fields(app: app))
    }

    static func objectNotFound(_ object: ObjectReference, app: String) -> KiiFailure {
        KiiFailure(404, "OBJECT_NOT_FOUND", "The object was not found.", object.fields(app: app))
    }

    static func objectBodyNotFound(_ object: ObjectReference, app: String) -> KiiFailure {
        KiiFailure(404, "OBJECT_BODY_NOT_FOUND", "The object has no body.", object.fields(app: app))
    }

    static func objectVersionIsStale(_ object: ObjectReference, app: String) -> KiiFailure {
        let message = "The object was changed since the version that If-Match names."
        return KiiFailure(409, "OBJECT_VERSION_IS_STALE", message, object.fields(app: app))
    }

    static func objectExists(_ object: ObjectReference, app: String) -> KiiFailure {
        let message = "The object is there, and If-None-Match asks for a new one."
        return KiiFailure(409, "OBJECT_ALREADY_EXISTS", message, object.fields(app: app))
    }
}

extension Bucket {
    fileprivate func fields(app: String) -> [(String, JSONValue)] {
        [("objectScope", self.scope.json(app: app)), ("bucketID", JSONValue(self.id))]
    }
}

extension ObjectReference {
    fileprivate func fields(app: String) -> [(String, JSONValue)] {
        self.bucket.fields(app: app) + [("objectID", JSONValue(self.id))]
    }
}
