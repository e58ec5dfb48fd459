package import KiiPushCore

extension SubscriptionTarget {
    /// The target as a command line spells it; a bucket is marked as one. Safe on a terminal, whoever chose the name.
    package var text: String {
        switch self {
        case .topic(let topic): topic.scope.text(of: topic.id).terminalSafe
        case .bucket(let bucket): "bucket \(bucket.scope.text(of: bucket.id).terminalSafe)"
        }
    }
}
