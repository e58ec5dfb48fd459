/// Puts a new object into a bucket, which is created if it is not there. Subscribers of the bucket get
/// `DATA_OBJECT_CREATED`.
///
/// - Source: `POST /apps/{appID}/{scope}/buckets/{bucketID}/objects`
public struct CreateObject: KiiEndpoint {
    /// The bucket.
    public var bucket: Bucket
    /// The object's fields: a JSON object.
    public var fields: JSONValue

    /// Makes the call.
    public init(_ fields: JSONValue, in bucket: Bucket) {
        self.bucket = bucket
        self.fields = fields
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// 201.
    public var successStatuses: Set<Int> { [201] }
    /// The fields.
    public var body: KiiBody { .json(self.fields, mediaType: "application/json") }

    /// The bucket's objects.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending(self.bucket).appending("objects")
    }

    /// Refuses fields that Kii refuses.
    public func validate() throws(KiiInputError) { try self.fields.validateObjectFields() }

    /// Reads `objectID` and `createdAt`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> StoredObject {
        let fields = try response.fields()
        let createdAt = try fields.optionalTimestamp("createdAt")
        return StoredObject(
            reference: ObjectReference(try fields.string("objectID"), in: self.bucket),
            createdAt: createdAt,
            modifiedAt: createdAt
        )
    }
}
