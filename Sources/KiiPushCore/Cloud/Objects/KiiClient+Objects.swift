extension KiiClient {
    /// Puts a new object into a bucket; subscribers of the bucket get a push to app.
    ///
    /// - Parameters:
    ///   - fields: The object's fields: a JSON object.
    ///   - bucket: The bucket; it is created if it is not there.
    ///   - token: The token.
    /// - Returns: The object with the ID that the cloud chose.
    /// - Throws: See ``KiiClient``.
    public func createObject(_ fields: JSONValue, in bucket: Bucket, token: Secret) async throws -> StoredObject {
        try await self.execute(CreateObject(fields, in: bucket), token: token)
    }

    /// Replaces all fields of an object, or creates it under this name; subscribers of the bucket get a push to app.
    ///
    /// - Throws: See ``KiiClient``.
    @discardableResult
    public func putObject(
        _ fields: JSONValue,
        as reference: ObjectReference,
        token: Secret
    ) async throws -> StoredObject {
        try await self.execute(PutObject(fields, as: reference), token: token)
    }

    /// Changes some fields of an object and leaves the others; subscribers of the bucket get a push to app.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectNotFound`` when it is not there; otherwise see ``KiiClient``.
    @discardableResult
    public func patchObject(
        _ fields: JSONValue,
        of reference: ObjectReference,
        token: Secret
    ) async throws -> StoredObject {
        try await self.execute(PatchObject(fields, of: reference), token: token)
    }

    /// Reads an object: the app's own fields, and the cloud's under keys that start with an underscore.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectNotFound`` when it is not there; otherwise see ``KiiClient``.
    public func object(_ reference: ObjectReference, token: Secret) async throws -> JSONValue {
        try await self.execute(GetObject(reference), token: token)
    }

    /// Removes an object; subscribers of the bucket get a push to app.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectNotFound`` when it is not there; otherwise see ``KiiClient``.
    public func deleteObject(_ reference: ObjectReference, token: Secret) async throws {
        try await self.execute(DeleteObject(reference), token: token)
    }

    /// Stores bytes as an object's body; subscribers of the bucket get a push to app.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - mediaType: What they are, such as `image/png`. Default `application/octet-stream`.
    ///   - reference: The object, which must be there.
    ///   - token: The token.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectNotFound`` when the object is not there; otherwise see
    ///   ``KiiClient``.
    @discardableResult
    public func uploadBody(
        _ bytes: [UInt8],
        mediaType: String = "application/octet-stream",
        of reference: ObjectReference,
        token: Secret
    ) async throws -> StoredObject {
        try await self.execute(UploadObjectBody(bytes, mediaType: mediaType, of: reference), token: token)
    }

    /// Reads an object's body.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectBodyNotFound`` when the object has none; otherwise see
    ///   ``KiiClient``.
    public func body(of reference: ObjectReference, token: Secret) async throws -> ObjectBody {
        try await self.execute(GetObjectBody(of: reference), token: token)
    }

    /// Removes an object's body and leaves the object; subscribers of the bucket get a push to app.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectBodyNotFound`` when the object has none; otherwise see
    ///   ``KiiClient``.
    public func deleteBody(of reference: ObjectReference, token: Secret) async throws {
        try await self.execute(DeleteObjectBody(of: reference), token: token)
    }

    /// Removes a bucket with all its objects; its subscribers get a push to app.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/bucketNotFound`` when it is not there; otherwise see ``KiiClient``.
    public func deleteBucket(_ bucket: Bucket, token: Secret) async throws {
        try await self.execute(DeleteBucket(bucket), token: token)
    }
}
