import KiiPushCore

/// Clients create a bucket by a request, by its first object or, if the emulator is not strict, by a subscription.
extension EmulatedCloud {
    private static let reservedBuckets: Set<String> = ["devices", "users", "installations", "internal", "things"]

    /// Throws if the ID is invalid or the owner of the bucket's scope does not exist. The bucket itself may be missing.
    ///
    /// - Source: Kii's reference of buckets (`default:`); Kii's clients for Java and JavaScript (`CRYPTO:`).
    func bucket(_ call: CloudCall) throws(KiiFailure) -> Bucket {
        let scope = try self.scope(call)
        let id = call["bucket"].hasPrefix("default:") ? String(call["bucket"].dropFirst(8)) : call["bucket"]
        let name = id.hasPrefix(Bucket.encryptedPrefix) ? String(id.dropFirst(Bucket.encryptedPrefix.count)) : id
        guard Names.isLegal(name, 2...64, extra: "-_"), !EmulatedCloud.reservedBuckets.contains(name) else {
            let reserved = EmulatedCloud.reservedBuckets.sorted().joined(separator: ", ")
            let message = "A bucket ID has to be 2 to 64 of A-Z a-z 0-9 - _ and none of \(reserved)"
            throw KiiFailure(400, "INVALID_BUCKET", message)
        }
        return Bucket(id, in: scope)
    }

    func writableBucket(_ call: CloudCall) throws(KiiFailure) -> Bucket {
        let bucket = try self.bucket(call)
        try self.require(self.belongs(call.caller, to: bucket.scope), call, "No right to use this bucket.")
        return bucket
    }

    /// Any caller may read buckets of the app's scope, even without a token.
    ///
    /// - Source: Kii's guide on securing data, default rights.
    func readableBucket(_ call: CloudCall) throws(KiiFailure) -> Bucket {
        let bucket = try self.bucket(call)
        let mayRead = bucket.scope == .app || self.belongs(call.caller, to: bucket.scope)
        try self.require(mayRead, call, "No right to read from this bucket.")
        return bucket
    }

    func ensure(_ bucket: Bucket, _ call: CloudCall) {
        guard self.state.buckets[bucket.path] == nil else { return }
        self.state.save(BucketRecord(bucket: bucket, creator: call.caller))
    }

    func createBucket(_ call: CloudCall) throws(KiiFailure) {
        let bucket = try self.writableBucket(call)
        let body = try call.request.body.isEmpty ? [:] : call.object(of: "BucketCreationRequest")
        guard try body.text("bucketType") ?? bucket.type == bucket.type else {
            throw .invalidInput("bucketType has to be \(bucket.type) with this name.")
        }
        self.ensure(bucket, call)
    }

    func showBucket(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let bucket = try self.existing(self.readableBucket(call)).bucket
        guard call.request.meantMethod != "HEAD" else { return HTTPResponse(status: 204) }
        let size = self.state.objectCount(in: bucket)
        return .json(
            200, "BucketRetrievalResponse", ["bucketType": JSONValue(bucket.type), "size": JSONValue(size)])
    }

    private func existing(_ bucket: Bucket) throws(KiiFailure) -> BucketRecord {
        guard let record = self.state.buckets[bucket.path] else {
            throw KiiFailure(404, "BUCKET_NOT_FOUND", "The bucket was not found.").about(self.fields(of: bucket))
        }
        return record
    }

    /// Subscribers get one push about the bucket, but none about its objects. The subscriptions are deleted too.
    func deleteBucket(_ call: CloudCall) throws(KiiFailure) {
        let bucket = try self.writableBucket(call)
        let record = try self.existing(bucket)
        let mayDrop = bucket.scope != .app || call.caller == .admin || call.caller == record.creator
        try self.require(mayDrop, call, "No right to delete this bucket.")
        self.announce(PushToApp(event: .bucketDeleted, bucket: bucket), call)
        self.state.remove(record)
    }

    private func fields(of bucket: Bucket) -> JSONMembers {
        JSONMembers(all: ["objectScope": bucket.scope.json(app: self.appID), "bucketID": bucket.id])
    }

    func failure(_ status: Int, _ code: String, _ message: String, _ object: ObjectReference) -> KiiFailure {
        KiiFailure(status, code, message).about(self.fields(of: object.bucket) + [("objectID", JSONValue(object.id))])
    }
}
