/// Changes some fields of an object and leaves the others. Subscribers of the bucket get `DATA_OBJECT_UPDATED`.
///
/// A field cannot be removed in this way. It may be repeated, since the fields are set and not counted up; subscribers
/// may then hear of the change twice.
///
/// - Source: `PATCH /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`, as ebisu sends it; Kii's guide sends
///   POST with `X-HTTP-Method-Override: PATCH`, which is the same call.
public struct PatchObject: KiiEndpoint {
    /// The object.
    public var reference: ObjectReference
    /// The fields that are to be changed: a JSON object.
    public var fields: JSONValue

    /// Makes the call.
    public init(_ fields: JSONValue, of reference: ObjectReference) {
        self.reference = reference
        self.fields = fields
    }

    /// PATCH.
    public var method: HTTPMethod { .patch }
    /// 200.
    public var successStatuses: Set<Int> { [200] }
    /// The fields.
    public var body: KiiBody { .json(self.fields, mediaType: "application/json") }

    /// The object's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses fields that Kii refuses.
    public func validate() throws(KiiInputError) { try self.fields.validateObjectFields() }

    /// Reads the moments, if they are there; Kii's guide shows the whole object as the answer.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> StoredObject {
        try StoredObject(self.reference, writtenBy: response)
    }
}
