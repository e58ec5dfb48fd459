/// Stores bytes, such as an image, as an object's body, in place of one that is there. Subscribers of the bucket get
/// `DATA_OBJECT_BODY_UPDATED`.
///
/// - Source: `PUT /apps/{appID}/{scope}/buckets/{bucketID}/objects/{objectID}/body`. The answer 200 was seen live in
///   the tests of ebisu.
public struct UploadObjectBody: KiiEndpoint {
    /// The object, which must be there.
    public var reference: ObjectReference
    /// The bytes; none make an empty body.
    public var bytes: [UInt8]
    /// What they are, such as `image/png`. The cloud gives it back to whoever reads the body.
    public var mediaType: String

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - mediaType: What they are. Default `application/octet-stream`.
    ///   - reference: The object.
    public init(
        _ bytes: [UInt8],
        mediaType: String = "application/octet-stream",
        of reference: ObjectReference
    ) {
        self.reference = reference
        self.bytes = bytes
        self.mediaType = mediaType
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// 200; 201 and 204 are taken as well.
    public var successStatuses: Set<Int> { [200, 201, 204] }
    /// The bytes.
    public var body: KiiBody { .bytes(self.bytes, mediaType: self.mediaType) }

    /// The body's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app).appending("body") }

    /// Reads `modifiedAt`, if it is there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> StoredObject {
        try StoredObject(self.reference, writtenBy: response)
    }
}
