import KiiPushCore

/// A change to a bucket or to one of its objects, in Kii's spelling. `DATA_OBJECT_ACL_MODIFIED` is missing: the
/// emulator has no access rules for single objects.
enum PushEvent: String, Sendable {
    case created = "DATA_OBJECT_CREATED"
    case updated = "DATA_OBJECT_UPDATED"
    case deleted = "DATA_OBJECT_DELETED"
    case bodyUpdated = "DATA_OBJECT_BODY_UPDATED"
    case bodyDeleted = "DATA_OBJECT_BODY_DELETED"
    case bucketDeleted = "BUCKET_DELETED"
}

struct PushToApp: Sendable {
    var event: PushEvent
    var bucket: Bucket
    var objectID: String?
    var modifiedAt: Timestamp?

    var sourcePath: String { self.bucket.path + (self.objectID.map { "/objects/\($0)" } ?? "") }
}
