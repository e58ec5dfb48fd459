/// Removes a bucket with all its objects. Its subscribers get `BUCKET_DELETED`.
///
/// - Source: `DELETE /apps/{appID}/{scope}/buckets/{bucketID}`
public struct DeleteBucket: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// The bucket.
    public var bucket: Bucket

    /// Makes the call.
    public init(_ bucket: Bucket) {
        self.bucket = bucket
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204; 200 is taken as well, since the status was not found in Kii's documents.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The bucket's path.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending(self.bucket) }
}
