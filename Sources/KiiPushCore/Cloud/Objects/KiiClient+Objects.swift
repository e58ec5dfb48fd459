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

    /// Removes an object; subscribers of the bucket get a push to app.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/objectNotFound`` when it is not there; otherwise see ``KiiClient``.
    public func deleteObject(_ reference: ObjectReference, token: Secret) async throws {
        try await self.execute(DeleteObject(reference), token: token)
    }
}
