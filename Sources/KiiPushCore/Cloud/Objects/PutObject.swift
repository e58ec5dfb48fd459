/// Replaces all fields of an object, or creates it under a name that the caller chooses. Subscribers of the bucket get
/// `DATA_OBJECT_UPDATED` or `DATA_OBJECT_CREATED`.
///
/// - Source: `PUT /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`
public struct PutObject: KiiEndpoint {
    /// The object.
    public var reference: ObjectReference
    /// The object's new fields: a JSON object.
    public var fields: JSONValue

    /// Makes the call.
    public init(_ fields: JSONValue, as reference: ObjectReference) {
        self.reference = reference
        self.fields = fields
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// 200 when it was replaced, 201 when it was created.
    public var successStatuses: Set<Int> { [200, 201] }
    /// The fields.
    public var body: KiiBody { .json(self.fields, mediaType: "application/json") }

    /// The object's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses fields that Kii refuses, and an ID under which it creates nothing.
    public func validate() throws(KiiInputError) {
        let id = self.reference.id.utf8
        guard (2...100).contains(id.count), id.allSatisfy(\.isKiiNameByte) else {
            throw KiiInputError(.objectID, rule: "2 to 100 of A-Z a-z 0-9 - _ .")
        }
        try self.fields.validateObjectFields()
    }

    /// Reads `createdAt` and `modifiedAt`, if they are there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> StoredObject {
        try StoredObject(self.reference, writtenBy: response)
    }
}
