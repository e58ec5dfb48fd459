extension KiiSession {
    /// Puts a new object into a bucket, which is created if it is not there. Subscribers of the bucket get
    /// `DATA_OBJECT_CREATED`.
    ///
    /// - Parameters:
    ///   - fields: The object's fields: a JSON object.
    ///   - bucket: The bucket.
    /// - Returns: The object with the ID that the cloud chose.
    /// - Source: `POST /apps/{appID}/{scope}/buckets/{bucketID}/objects`
    public func createObject(_ fields: JSONValue, in bucket: Bucket) async throws -> StoredObject {
        try await self.perform(.creating(fields, in: bucket))
    }

    /// Replaces all fields of an object, or creates it under a name that the caller chooses. Subscribers of the bucket
    /// get `DATA_OBJECT_UPDATED` or `DATA_OBJECT_CREATED`.
    ///
    /// - Parameters:
    ///   - fields: The object's new fields: a JSON object.
    ///   - reference: The object: an ID of 2 to 100 of `A-Z a-z 0-9 - _ .`.
    /// - Source: `PUT /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`
    @discardableResult
    public func putObject(_ fields: JSONValue, as reference: ObjectReference) async throws -> StoredObject {
        try reference.id.requireKiiName(2...100, .objectID)
        try fields.validateObjectFields()
        return try await self.write(.json(fields), .put, to: reference.path, of: reference, statuses: [200, 201])
    }

    /// Changes some fields of an object and leaves the others. Subscribers of the bucket get `DATA_OBJECT_UPDATED`.
    ///
    /// A field cannot be removed in this way. The call may be repeated, since the fields are set and not counted up;
    /// subscribers may then hear of the change twice.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND` when it is not there.
    /// - Source: `PATCH /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`, as ebisu sends it; Kii's guide
    ///   sends POST with `X-HTTP-Method-Override: PATCH`, which is the same call
    @discardableResult
    public func patchObject(_ fields: JSONValue, of reference: ObjectReference) async throws -> StoredObject {
        try fields.validateObjectFields()
        return try await self.write(.json(fields), .patch, to: reference.path, of: reference, statuses: [200])
    }

    private func write(
        _ body: KiiBody, _ method: HTTPMethod, to path: KiiPath, of reference: ObjectReference, statuses: Set<Int>
    ) async throws -> StoredObject {
        let call = KiiCall(method, path, statuses: statuses) { response throws(KiiResponseError) in
            try StoredObject(reference, writtenBy: response)
        }
        return try await self.perform(call.with { $0.body = body })
    }

    /// Reads an object: the app's own fields, and the cloud's under keys that start with an underscore, such as `_id`,
    /// `_created`, `_modified`, `_owner` and `_version`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND` when it is not there.
    /// - Source: `GET /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`
    public func object(_ reference: ObjectReference) async throws -> JSONValue {
        try await self.perform(
            KiiCall(.get, reference.path, statuses: [200]) { response throws(KiiResponseError) in
                let object = try response.json()
                guard object.kind == .object else { throw KiiResponseError(.wrongType(.object), in: response) }
                return object
            })
    }

    /// Removes an object. Subscribers of the bucket get `DATA_OBJECT_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND` when it is not there.
    /// - Source: `DELETE /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`
    public func deleteObject(_ reference: ObjectReference) async throws {
        try await self.perform(KiiCall(.delete, reference.path, statuses: [200, 204]))
    }

    /// Stores bytes, such as an image, as an object's body, in place of one that is there. Subscribers of the bucket get
    /// `DATA_OBJECT_BODY_UPDATED`.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; none make an empty body.
    ///   - mediaType: What they are, such as `image/png`. The cloud gives it back to whoever reads the body. Default
    ///     `application/octet-stream`.
    ///   - reference: The object.
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND` when the object is not there.
    /// - Source: `PUT /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`. The answer 200 was seen live in
    ///   the tests of ebisu; 201 and 204 are taken as well
    @discardableResult
    public func uploadBody(
        _ bytes: [UInt8], mediaType: String = "application/octet-stream", of reference: ObjectReference
    ) async throws -> StoredObject {
        try await self.write(
            .bytes(bytes, mediaType: mediaType), .put, to: reference.path.appending("body"), of: reference,
            statuses: [200, 201, 204])
    }

    /// Reads an object's body. The whole body is held in memory, and one that is larger than an answer may be is a
    /// ``TransportError``.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_BODY_NOT_FOUND` when the object has none.
    /// - Source: `GET /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`
    public func body(of reference: ObjectReference) async throws -> ObjectBody {
        try await self.perform(
            KiiCall(.get, reference.path.appending("body"), statuses: [200]) { response in
                ObjectBody(bytes: response.http.body, mediaType: response.http.field("Content-Type"))
            })
    }

    /// Removes an object's body and leaves the object. Subscribers of the bucket get `DATA_OBJECT_BODY_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_BODY_NOT_FOUND` when the object has none.
    /// - Source: `DELETE /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`
    public func deleteBody(of reference: ObjectReference) async throws {
        try await self.perform(KiiCall(.delete, reference.path.appending("body"), statuses: [200, 204]))
    }

    /// Removes a bucket with all its objects. Its subscribers get `BUCKET_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `BUCKET_NOT_FOUND` when it is not there.
    /// - Source: `DELETE /apps/{appID}/{scope}/buckets/{bucketID}`; Kii's documents name no status
    public func deleteBucket(_ bucket: Bucket) async throws {
        try await self.perform(KiiCall(.delete, bucket.path, statuses: [200, 204]))
    }
}

extension KiiCall where Answer == StoredObject {
    /// The call of ``KiiSession/createObject(_:in:)``.
    package static func creating(_ fields: JSONValue, in bucket: Bucket) throws(KiiInputError) -> Self {
        try fields.validateObjectFields()
        return Self(.post, bucket.path.appending("objects"), statuses: [201]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            let createdAt = try fields.optionalTimestamp("createdAt")
            let reference = ObjectReference(try fields.string("objectID"), in: bucket)
            return StoredObject(reference: reference, createdAt: createdAt, modifiedAt: createdAt)
        }.with { $0.body = .json(fields) }
    }
}
