import KiiPushCore

/// What can happen to a bucket and the objects in it, in Kii's spelling.
///
/// `DATA_OBJECT_ACL_MODIFIED` is missing: the emulator knows no access rules of single objects.
enum PushEvent: String, Sendable {
    case created = "DATA_OBJECT_CREATED"
    case updated = "DATA_OBJECT_UPDATED"
    case deleted = "DATA_OBJECT_DELETED"
    case bodyUpdated = "DATA_OBJECT_BODY_UPDATED"
    case bodyDeleted = "DATA_OBJECT_BODY_DELETED"
    case bucketDeleted = "BUCKET_DELETED"
}

/// A push to app: something that happened.
struct PushToApp: Sendable {
    var event: PushEvent
    var bucket: Bucket
    /// `nil` for what happens to the bucket itself.
    var objectID: String?
    /// `nil` where there is nothing left that was modified.
    var modifiedAt: Timestamp?

    /// What it happened to, as a path below the app or `kiicloud://`.
    var sourcePath: String { self.bucket.path + (self.objectID.map { "/objects/\($0)" } ?? "") }
}
