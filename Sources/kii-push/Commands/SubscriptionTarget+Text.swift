import KiiPushCore

extension SubscriptionTarget {
    /// What the words of a command line stand for, topics first.
    static func targets(
        topics: [TargetName], buckets: [TargetName], of principal: Principal
    ) throws -> [SubscriptionTarget] {
        try topics.map { .topic(Topic($0.id, in: try $0.scope.resolved(for: principal))) }
            + buckets.map { .bucket(Bucket($0.id, in: try $0.scope.resolved(for: principal))) }
    }

    /// As it is written on a command line; a bucket says that it is one. Safe on a terminal, whoever chose the name.
    var text: String {
        switch self {
        case .topic(let topic): topic.scope.text(of: topic.id).terminalSafe
        case .bucket(let bucket): "bucket \(bucket.scope.text(of: bucket.id).terminalSafe)"
        }
    }
}
