import KiiPushCore

extension Route {
    private static let objects = "buckets/{bucket}/objects"
    static let object = "\(objects)/{object}"

    static let buckets: [Route] = Route.inEveryScope(
        [
            Route("POST", objects, EmulatedCloud.createObject),
            Route("GET", object, need: .app, EmulatedCloud.showObject),
            Route("PUT", object, EmulatedCloud.putObject),
            Route("PATCH", object, EmulatedCloud.patchObject),
            Route("DELETE", object, EmulatedCloud.deleteObject),
            Route("PUT", "buckets/{bucket}", EmulatedCloud.createBucket),
            Route("GET", "buckets/{bucket}", need: .app, EmulatedCloud.showBucket),
            Route("DELETE", "buckets/{bucket}", EmulatedCloud.deleteBucket),
        ] + Route.objectBodies + Route.subscriptions(below: "buckets/{bucket}/filters/{filter}"))
}

extension EmulatedCloud {
    func createObject(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let bucket = try self.writableBucket(call)
        let data = try self.data(call)
        return self.insert(ObjectReference(self.identifiers.unique(), in: bucket), data: data, call)
    }

    func putObject(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let object = try self.object(call, in: self.writableBucket(call))
        let data = try self.data(call)
        guard let former = self.state.objects[object.path] else {
            guard call.field("If-Match") == nil else { throw self.objectNotFound(object) }
            return self.insert(object, data: data, call)
        }
        guard call.field("If-None-Match") == nil else {
            let message = "The object is there, and If-None-Match asks for a new one."
            throw self.failure(409, "OBJECT_ALREADY_EXISTS", message, object)
        }
        let record = try self.update(former, data: data, call)
        return .json(200, "ObjectUpdateResponse", .object(record.moments), fields: [.entityTag(record.version)])
    }

    /// The answer is the whole object, and also has the times under the names of a full update.
    ///
    /// - Source: Kii's guide on partial updates.
    func patchObject(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let former = try self.existingObject(call, in: self.writableBucket(call))
        // Any media type is accepted: Kii's C SDK ebisu sends none, and curl, in Kii's example, sends the type of a
        // form.
        let members = (former.data.members ?? []) + (try self.objectData(call).members ?? [])
        let record = try self.update(former, data: JSONValue(members: members), call)
        let answer = JSONValue.object(record.moments + record.description)
        return .json(200, nil, answer, fields: [.entityTag(record.version)])
    }

    func showObject(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let record = try self.existingObject(call, in: self.readableBucket(call))
        return .json(200, nil, .object(record.description), fields: [.entityTag(record.version)])
    }

    func deleteObject(_ call: CloudCall) throws(KiiFailure) {
        let record = try self.existingObject(call, in: self.writableBucket(call))
        try self.requireChangeable(record, call)
        try self.requireVersion(of: record, call)
        self.state.remove(record)
        self.announce(.deleted, of: record.object, call)
    }

    private func insert(_ object: ObjectReference, data: JSONValue, _ call: CloudCall) -> HTTPResponse {
        self.ensure(object.bucket, call)
        let record = ObjectRecord(
            object: object, creator: call.caller, createdAt: call.now, modifiedAt: call.now, data: data)
        self.state.save(record)
        self.announce(.created, of: object, modifiedAt: call.now, call)
        let type = call.mediaType
        return .json(
            201, "ObjectCreationResponse",
            .object([
                ("objectID", JSONValue(object.id)), ("createdAt", call.now.json),
                ("dataType", JSONValue(type.isEmpty ? "application/json" : type)),
            ]),
            fields: [self.location(object.path, call), .entityTag(record.version)])
    }

    private func update(
        _ former: ObjectRecord, data: JSONValue, _ call: CloudCall
    ) throws(KiiFailure) -> ObjectRecord {
        try self.requireChangeable(former, call)
        try self.requireVersion(of: former, call)
        var record = former
        record.data = data
        record.modifiedAt = call.now
        record.version += 1
        self.state.save(record)
        self.announce(.updated, of: record.object, modifiedAt: call.now, call)
        return record
    }

    private func object(_ call: CloudCall, in bucket: Bucket) throws(KiiFailure) -> ObjectReference {
        guard Names.isLegal(call["object"], 2...100, extra: "-_.") else {
            let message = "An object ID has to be 2 to 100 of A-Z, a-z, 0-9, `-`, `_` and `.`."
            throw KiiFailure(400, "INVALID_OBJECT_ID", message)
        }
        return ObjectReference(call["object"], in: bucket)
    }

    func existingObject(_ call: CloudCall, in bucket: Bucket) throws(KiiFailure) -> ObjectRecord {
        let object = try self.object(call, in: bucket)
        guard let record = self.state.objects[object.path] else { throw self.objectNotFound(object) }
        return record
    }

    private func objectNotFound(_ object: ObjectReference) -> KiiFailure {
        self.failure(404, "OBJECT_NOT_FOUND", "The object was not found.", object)
    }

    /// In the app's scope, only the creator and the administrator may change an object. In other scopes, everybody who
    /// belongs to the scope may.
    func requireChangeable(_ record: ObjectRecord, _ call: CloudCall) throws(KiiFailure) {
        let mayChange = record.object.bucket.scope != .app || call.caller == record.creator || call.caller == .admin
        try self.require(mayChange, call, "No right to change this object.")
    }

    /// Any JSON media type is accepted: Kii's samples use `application/vnd.{appID}.{type}+json`, and a live test of
    /// Kii's Java client sends none.
    private func data(_ call: CloudCall) throws(KiiFailure) -> JSONValue {
        let type = call.mediaType
        guard type.isEmpty || type == "application/json" || type.hasSuffix("+json") else {
            throw .mediaType(["application/json", "application/vnd.{appID}.{type}+json"])
        }
        return try self.objectData(call)
    }

    /// Clients send back the cloud's own members, whose names begin with an underscore. These members are ignored.
    private func objectData(_ call: CloudCall) throws(KiiFailure) -> JSONValue {
        .object(try call.object().pairs.filter { !$0.0.hasPrefix("_") })
    }

    /// Kii's guide sends a number in `If-Match`; clients send an entity tag in quotes.
    ///
    /// - Source: Kii's reference, object resource; the statuses also from a live test of ebisu.
    func requireVersion(of record: ObjectRecord, _ call: CloudCall) throws(KiiFailure) {
        guard let condition = call.field("If-Match") else { return }
        guard call.field("If-None-Match") == nil else {
            throw .invalidInput("If-Match and If-None-Match exclude each other.")
        }
        guard condition.filter({ $0 != "\"" && !$0.isWhitespace }) == "\(record.version)" else {
            let message = "The object was changed since the version that If-Match names."
            throw self.failure(409, "OBJECT_VERSION_IS_STALE", message, record.object)
        }
    }
}

extension HTTPField {
    static func entityTag(_ version: Int) -> HTTPField { HTTPField("ETag", "\"\(version)\"") }
}
