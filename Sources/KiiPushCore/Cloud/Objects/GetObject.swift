/// Reads an object with all its fields.
///
/// - Source: `GET /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}`
public struct GetObject: KiiEndpoint {
    /// The object.
    public var reference: ObjectReference

    /// Makes the call.
    public init(_ reference: ObjectReference) {
        self.reference = reference
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The object's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// The object as the cloud sends it: the app's own fields, and the cloud's under keys that start with an
    /// underscore, such as `_id`, `_created`, `_modified`, `_owner` and `_version`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> JSONValue {
        let object = try response.json()
        guard object.kind == .object else { throw KiiResponseError(.wrongType(.object), in: response) }
        return object
    }
}
