/// Removes an object's body and leaves the object. Subscribers of the bucket get `DATA_OBJECT_BODY_DELETED`.
///
/// - Source: `DELETE /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`
public struct DeleteObjectBody: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// The object.
    public var reference: ObjectReference

    /// Makes the call.
    public init(of reference: ObjectReference) {
        self.reference = reference
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204; 200 is taken as well.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The body's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app).appending("body") }
}
