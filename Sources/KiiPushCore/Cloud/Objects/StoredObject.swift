/// What the cloud says about an object after it was written.
public struct StoredObject: Sendable, Hashable {
    /// Which object.
    public var reference: ObjectReference
    /// When it was created, by the cloud's clock. `nil` when the cloud did not say.
    public var createdAt: Timestamp?
    /// When it was last changed, by the cloud's clock. `nil` when the cloud did not say.
    public var modifiedAt: Timestamp?

    package init(reference: ObjectReference, createdAt: Timestamp? = nil, modifiedAt: Timestamp? = nil) {
        (self.reference, self.createdAt, self.modifiedAt) = (reference, createdAt, modifiedAt)
    }
}

/// The bytes beside an object's fields, such as an image.
public struct ObjectBody: Sendable, Hashable {
    /// The bytes.
    public var bytes: [UInt8]
    /// What they are, as whoever stored them said. `nil` when the cloud does not say.
    public var mediaType: String?

    package init(bytes: [UInt8], mediaType: String?) { (self.bytes, self.mediaType) = (bytes, mediaType) }
}

extension StoredObject {
    /// Reads what a write answers: `createdAt` and `modifiedAt`, or a whole object with `_created` and `_modified`, in
    /// which the former names are the app's. An answer without a body says nothing.
    init(_ reference: ObjectReference, writtenBy response: KiiResponse) throws(KiiResponseError) {
        self.init(reference: reference)
        guard !response.http.body.isEmpty else { return }
        let fields = try response.fields()
        self.createdAt = try fields.optionalTimestamp("_created", "createdAt")
        self.modifiedAt = try fields.optionalTimestamp("_modified", "modifiedAt")
    }
}
