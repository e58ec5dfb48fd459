/// Reads an object's body.
///
/// The whole body is held in memory, and one that is larger than an answer may be is a ``TransportError``.
///
/// - Source: `GET /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`
public struct GetObjectBody: KiiEndpoint {
    /// The object.
    public var reference: ObjectReference

    /// Makes the call.
    public init(of reference: ObjectReference) {
        self.reference = reference
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The body's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app).appending("body") }

    /// Takes the bytes as they are.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> ObjectBody {
        ObjectBody(bytes: response.http.body, mediaType: response.http.field("Content-Type"))
    }
}

/// The bytes beside an object's fields, such as an image.
public struct ObjectBody: Sendable, Hashable {
    /// The bytes.
    public var bytes: [UInt8]
    /// What they are, as whoever stored them said. `nil` when the cloud does not say.
    public var mediaType: String?

    /// Makes a body.
    public init(bytes: [UInt8], mediaType: String?) {
        self.bytes = bytes
        self.mediaType = mediaType
    }
}
