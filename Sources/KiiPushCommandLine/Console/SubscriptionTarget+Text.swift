package import KiiPushCore

extension SubscriptionTarget {
    /// As it is written on a command line; a bucket says that it is one. Safe on a terminal, whoever chose the name.
    package var text: String {
        switch self {
        case .topic(let topic): topic.scope.text(of: topic.id).terminalSafe
        case .bucket(let bucket): "bucket \(bucket.scope.text(of: bucket.id).terminalSafe)"
        }
    }
}
