package import KiiPushCore

extension SubscriptionTarget {
    /// The target as written on a command line; a bucket is marked as a bucket. Safe on a terminal.
    package var text: String {
        switch self {
        case .topic(let topic): topic.spelling.terminalSafe
        case .bucket(let bucket): "bucket \(bucket.spelling.terminalSafe)"
        }
    }
}

extension Topic {
    /// The topic as written on a command line, such as `user:ID/todo`.
    var spelling: String { self.scope.text(of: self.id) }
}

extension Bucket {
    /// The bucket as written on a command line, such as `user:ID/notes`.
    var spelling: String { self.scope.text(of: self.id) }
}
