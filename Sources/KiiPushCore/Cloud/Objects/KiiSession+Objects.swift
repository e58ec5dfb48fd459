extension KiiSession {
    /// Creates an object in a bucket, and the bucket if it does not exist. Subscribers of the bucket get
    /// `DATA_OBJECT_CREATED`.
    ///
    /// `fields` is a JSON object. The cloud chooses the object's ID.
    ///
    /// - Source: `POST …/buckets/{bucketID}/objects`
    public func createObject(_ fields: JSONValue, in bucket: Bucket) async throws -> StoredObject {
        try await self.perform(.creating(fields, in: bucket))
    }

    /// Replaces all fields of an object, or creates the object. Subscribers of the bucket get `DATA_OBJECT_UPDATED` or
    /// `DATA_OBJECT_CREATED`.
    ///
    /// `fields` is a JSON object. The object's ID has 2 to 100 of `A-Z a-z 0-9 - _ .`.
    ///
    /// - Source: `PUT …/objects/{objectID}`
    @discardableResult
    public func putObject(_ fields: JSONValue, as reference: ObjectReference) async throws -> StoredObject {
        try reference.id.requireKiiName(2...100, .objectID)
        try fields.validateObjectFields()
        return try await self.write(.json(fields), .put, to: reference.path, of: reference, statuses: [200, 201])
    }

    /// Sets some fields of an object and leaves the others. Subscribers of the bucket get `DATA_OBJECT_UPDATED`.
    ///
    /// The call cannot remove a field. The client may repeat the call; subscribers may then get the change twice.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND`.
    /// - Source: `PATCH …/objects/{objectID}`, as Kii's C SDK (ebisu) sends it
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

    /// Reads an object: the app's own fields, and the cloud's. The cloud's keys start with an underscore, such as
    /// `_id`, `_created`, `_modified`, `_owner` and `_version`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND`.
    /// - Source: `GET …/objects/{objectID}`
    public func object(_ reference: ObjectReference) async throws -> JSONValue {
        try await self.perform(
            KiiCall(.get, reference.path, statuses: [200]) { response throws(KiiResponseError) in
                try response.fields().value
            })
    }

    /// Removes an object. Subscribers of the bucket get `DATA_OBJECT_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND`.
    /// - Source: `DELETE …/objects/{objectID}`
    public func deleteObject(_ reference: ObjectReference) async throws {
        try await self.perform(KiiCall(.delete, reference.path, statuses: [200, 204]))
    }

    /// Stores bytes, such as an image, as an object's body, and replaces an existing body. Subscribers of the bucket
    /// get `DATA_OBJECT_BODY_UPDATED`.
    ///
    /// The cloud returns `mediaType` to readers of the body.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_NOT_FOUND`.
    /// - Source: `PUT …/objects/{objectID}/body`
    @discardableResult
    public func uploadBody(
        _ bytes: [UInt8], mediaType: String = "application/octet-stream", of reference: ObjectReference
    ) async throws -> StoredObject {
        try await self.write(
            .bytes(bytes, mediaType: mediaType), .put, to: reference.path.appending("body"), of: reference,
            statuses: [200, 201, 204])
    }

    /// Reads an object's body into memory. A body above the size limit of an answer is a ``TransportError``.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_BODY_NOT_FOUND`.
    /// - Source: `GET …/objects/{objectID}/body`
    public func body(of reference: ObjectReference) async throws -> ObjectBody {
        try await self.perform(
            KiiCall(.get, reference.path.appending("body"), statuses: [200]) { response in
                ObjectBody(bytes: response.http.body, mediaType: response.http.field("Content-Type"))
            })
    }

    /// Removes an object's body and leaves the object. Subscribers of the bucket get `DATA_OBJECT_BODY_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `OBJECT_BODY_NOT_FOUND`.
    /// - Source: `DELETE …/objects/{objectID}/body`
    public func deleteBody(of reference: ObjectReference) async throws {
        try await self.perform(KiiCall(.delete, reference.path.appending("body"), statuses: [200, 204]))
    }

    /// Removes a bucket with all its objects. Subscribers of the bucket get `BUCKET_DELETED`.
    ///
    /// - Throws: ``KiiError`` with `BUCKET_NOT_FOUND`.
    /// - Source: `DELETE …/buckets/{bucketID}`
    public func deleteBucket(_ bucket: Bucket) async throws {
        try await self.perform(KiiCall(.delete, bucket.path, statuses: [200, 204]))
    }
}

extension KiiCall where Answer == StoredObject {
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
