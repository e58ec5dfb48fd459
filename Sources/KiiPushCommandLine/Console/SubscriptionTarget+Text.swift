package import KiiPushCore

extension SubscriptionTarget {
    /// The target as written on a command line; a bucket is marked as a bucket. Safe on a terminal.
    package var text: String {
        switch self {
        case .topic(let topic): topic.scope.text(of: topic.id).terminalSafe
        case .bucket(let bucket): "bucket \(bucket.scope.text(of: bucket.id).terminalSafe)"
        }
    }
}
