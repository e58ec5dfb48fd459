/// The cloud's answer to a write of an object. A time is `nil` if the cloud did not send it.
public struct StoredObject: Sendable, Hashable {
    /// The written object.
    public var reference: ObjectReference
    /// The time of creation, by the cloud's clock.
    public var createdAt: Timestamp?
    /// The time of the last change, by the cloud's clock.
    public var modifiedAt: Timestamp?
}

/// The bytes of an object's body, such as an image.
public struct ObjectBody: Sendable, Hashable {
    /// The bytes.
    public var bytes: [UInt8]
    /// The media type that the writer set. `nil` if the cloud did not send it.
    public var mediaType: String?
}

extension StoredObject {
    /// If the answer is the whole object, `createdAt` may be the app's own field, so `_created` takes precedence.
    init(_ reference: ObjectReference, writtenBy response: KiiResponse) throws(KiiResponseError) {
        self.init(reference: reference)
        guard !response.http.body.isEmpty else { return }
        let fields = try response.fields()
        self.createdAt = try fields.optionalTimestamp("_created", "createdAt")
        self.modifiedAt = try fields.optionalTimestamp("_modified", "modifiedAt")
    }
}
